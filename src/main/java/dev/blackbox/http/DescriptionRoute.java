package dev.blackbox.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** The API in its own words: {@code docs/openapi.yaml} as JSON. */
final class DescriptionRoute {

  /** Written from the YAML by {@code OpenApiDocumentTest}, which also holds the two equal. */
  private static final String RESOURCE = "/http/openapi.json";

  Answer show(Call call) {
    try (InputStream json = DescriptionRoute.class.getResourceAsStream(RESOURCE)) {
      if (json == null) {
        throw new IllegalStateException(RESOURCE + " is missing from the program");
      }
      return new Answer.Document(new String(json.readAllBytes(), StandardCharsets.UTF_8), Map.of());
    } catch (IOException unreadable) {
      throw new UncheckedIOException(RESOURCE + " cannot be read", unreadable);
    }
  }
}
