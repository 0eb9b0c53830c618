package dev.blackbox.app.engine;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A request that the engine got, exactly as it came.
 *
 * @param path with the query, if there is one
 * @param headers by lower-case name
 */
@SuppressWarnings("ArrayRecordComponent") // a record of bytes; never compared
public record EngineRequest(
    String method, String path, Map<String, List<String>> headers, byte[] body, Instant at) {

  /** The first value of a header, whose name is given in lower case. */
  public Optional<String> header(String name) {
    return headers.getOrDefault(name, List.of()).stream().findFirst();
  }

  public String bodyText() {
    return new String(body, StandardCharsets.UTF_8);
  }

  public boolean isChat() {
    return method.equals("POST") && path.endsWith("/chat/completions");
  }
}
