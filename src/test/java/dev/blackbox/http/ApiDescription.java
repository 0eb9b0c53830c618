package dev.blackbox.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.dialect.Dialect;
import com.networknt.schema.dialect.Dialects;
import com.networknt.schema.keyword.NonValidationKeyword;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;

/** {@code docs/openapi.yaml}, and whether an answer is as it says. */
public final class ApiDescription {

  static final Path SOURCE = Path.of("docs/openapi.yaml");

  /** On every answer, so not said of each. */
  private static final List<String> EVERYWHERE =
      List.of(
          "cache-control",
          "connection",
          "content-length",
          "content-type",
          "date",
          "allow",
          "transfer-encoding");

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final ApiDescription SHIPPED = new ApiDescription(read());

  private final JsonNode document;
  private final SchemaRegistry registry =
      SchemaRegistry.withDefaultDialect(
          Dialect.builder(Dialects.getDraft202012())
              .keyword(new NonValidationKeyword("components"))
              .build());
  private final Map<JsonNode, Schema> schemas = new ConcurrentHashMap<>();

  private ApiDescription(JsonNode document) {
    this.document = document;
  }

  public static ApiDescription shipped() {
    return SHIPPED;
  }

  JsonNode document() {
    return document;
  }

  private static JsonNode read() {
    try {
      return new YAMLMapper().readTree(SOURCE.toFile());
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  /**
   * Fails if an answer is not what the description says.
   *
   * @param target path and query as they were sent
   * @param headers by lower-case name
   * @param body empty if there is none
   */
  public void check(
      String method, String target, int status, Map<String, String> headers, String body) {
    String path = target.split("\\?", 2)[0];
    Optional<JsonNode> operation =
        template(path)
            .map(template -> at(document, "paths", template, method.toLowerCase(Locale.ROOT)));
    JsonNode response = operation.flatMap(known -> response(known, status)).orElseGet(this::error);
    String what = method + " " + shortened(target) + " → " + status;
    checkHeaders(what, response, headers);
    if (body.isEmpty()) {
      return;
    }
    String mediaType = String.valueOf(headers.get("content-type"));
    JsonNode schema = at(response, "content", mediaType, "schema");
    assertThat(schema.isMissingNode()).as("%s has a schema for %s", what, mediaType).isFalse();
    checkBody(what, schema, body);
  }

  /** For what was answered before it was known what was asked. */
  public void checkError(Map<String, String> headers, String body) {
    checkHeaders("an error", error(), headers);
    checkBody("an error", at(error(), "content", "application/json", "schema"), body);
  }

  /** The template of a path, as the routes would find it. */
  private Optional<String> template(String path) {
    String[] segments = path.split("/", -1);
    for (String template : names(document.path("paths"))) {
      String[] wanted = template.split("/", -1);
      boolean fits = wanted.length == segments.length;
      for (int at = 0; fits && at < wanted.length; at++) {
        fits =
            wanted[at].startsWith("{") ? !segments[at].isEmpty() : wanted[at].equals(segments[at]);
      }
      if (fits) {
        return Optional.of(template);
      }
    }
    return Optional.empty();
  }

  private Optional<JsonNode> response(JsonNode operation, int status) {
    JsonNode responses = operation.path("responses");
    JsonNode found = responses.path(String.valueOf(status));
    // What is no error must be described for itself.
    if (found.isMissingNode() && status >= 400) {
      found = responses.path("default");
    }
    return found.isMissingNode() ? Optional.empty() : Optional.of(resolved(found));
  }

  private JsonNode error() {
    return at(document, "components", "responses", "Error");
  }

  private void checkHeaders(String what, JsonNode response, Map<String, String> headers) {
    JsonNode described = response.path("headers");
    for (String name : names(described)) {
      JsonNode header = resolved(described.path(name));
      String value = headers.get(name);
      if (header.path("required").asBoolean()) {
        assertThat(headers).as("headers of %s", what).containsKey(name);
      }
      if (value != null) {
        assertThat(schema(header.path("schema")).validate(JSON.valueToTree(value)))
            .as("header %s of %s: %s", name, what, value)
            .isEmpty();
      }
    }
    boolean error = response.equals(error());
    for (String name : headers.keySet()) {
      // Errors of every kind share one description, and some have more to say.
      if (!error && !EVERYWHERE.contains(name)) {
        assertThat(described.has(name)).as("%s describes header %s", what, name).isTrue();
      }
    }
  }

  private void checkBody(String what, JsonNode schema, String body) {
    try {
      JsonNode tree = JSON.readTree(body);
      assertThat(schema(schema).validate(tree)).as("body of %s", what).isEmpty();
      // Schemas are open to additions, this description is not: what is sent is written down.
      assertThat(new TreeSet<>(names(resolved(schema).path("properties"))))
          .as("fields that docs/openapi.yaml has for %s", what)
          .containsAll(names(tree));
    } catch (IOException noJson) {
      throw new AssertionError(what + " has a body that is no JSON", noJson);
    }
  }

  /** A schema that can be used by itself: it takes along what it refers to. */
  Schema schema(JsonNode node) {
    return schemas.computeIfAbsent(
        node,
        wanted -> {
          ObjectNode alone = JSON.createObjectNode();
          alone.set("allOf", JSON.createArrayNode().add(wanted));
          alone.set("components", document.path("components"));
          return registry.getSchema(alone);
        });
  }

  private JsonNode resolved(JsonNode node) {
    String reference = node.path("$ref").asText();
    return reference.isEmpty() ? node : resolved(document.at(reference.substring(1)));
  }

  private static JsonNode at(JsonNode node, String... names) {
    return Arrays.stream(names).reduce(node, JsonNode::path, (first, second) -> second);
  }

  static List<String> names(JsonNode object) {
    List<String> names = new ArrayList<>();
    object.fieldNames().forEachRemaining(names::add);
    return names;
  }

  private static String shortened(String target) {
    return target.length() <= 100 ? target : target.substring(0, 100) + "…";
  }
}
