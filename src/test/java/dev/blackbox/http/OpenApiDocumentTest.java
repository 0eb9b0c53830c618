package dev.blackbox.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.blackbox.kernel.ErrorCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * {@code docs/openapi.yaml} is written by hand; what the server serves is made of it by {@code mvn
 * test -Dtest=OpenApiDocumentTest -Dtidy.fix=true}. That answers are as it says, {@link RawClient}
 * checks of every answer that any test gets.
 */
class OpenApiDocumentTest {

  private static final Path SERVED = Path.of("src/main/resources/http/openapi.json");
  private static final ObjectMapper JSON = new ObjectMapper();

  private final JsonNode document = ApiDescription.shipped().document();

  @Test
  void theServedFileIsTheDocument() throws IOException {
    if (Boolean.getBoolean("tidy.fix")) {
      Files.writeString(SERVED, JSON.writeValueAsString(document) + "\n");
    }
    assertThat(JSON.readTree(SERVED.toFile()))
        .as("write it: mvn test -Dtest=OpenApiDocumentTest -Dtidy.fix=true")
        .isEqualTo(document);
  }

  @Test
  void itIsServed() throws Exception {
    try (DoorFixture fixture = new DoorFixture()) {
      RawClient.Reply reply = fixture.get("/openapi.json");
      assertThat(reply.status()).isEqualTo(200);
      assertThat(JSON.readTree(reply.body())).isEqualTo(JSON.readTree(SERVED.toFile()));
      assertThat(fixture.rollout.calls).isEmpty();
    }
  }

  @Test
  void itHasTheRoutesOfTheServerAndNoOthers() {
    List<String> described = new ArrayList<>();
    JsonNode paths = document.path("paths");
    for (String path : ApiDescription.names(paths)) {
      for (String method : List.of("get", "post", "put", "delete", "patch")) {
        if (paths.path(path).has(method)) {
          described.add(method.toUpperCase(Locale.ROOT) + " " + path);
        }
      }
    }
    FakeRollout rollout = new FakeRollout();
    Routes routes =
        new Routes(
            new HealthRoutes(rollout),
            new RolloutRoutes(rollout),
            new SessionRoutes(rollout, new Limits(DoorFixture.SMALL), 1, 1),
            new CommandRoutes(rollout, new Limits(DoorFixture.SMALL), 1, 1),
            new DescriptionRoute());
    assertThat(described)
        .containsExactlyInAnyOrderElementsOf(
            routes.table().stream()
                .map(route -> route.method() + " " + String.join("/", route.segments()))
                .toList());
  }

  @Test
  void itHasTheCodesOfTheServer() {
    TreeSet<String> described = new TreeSet<>();
    document.at("/components/schemas/ErrorCode/enum").forEach(code -> described.add(code.asText()));
    assertThat(described)
        .containsExactlyInAnyOrderElementsOf(
            Arrays.stream(ErrorCode.values()).map(ErrorCode::wireName).toList());
  }

  @Test
  void everyReferenceLeadsSomewhereAndEverySchemaIsOne() {
    for (JsonNode reference : document.findValues("$ref")) {
      assertThat(document.at(reference.asText().substring(1)).isMissingNode())
          .as(reference.asText())
          .isFalse();
    }
    JsonNode schemas = document.at("/components/schemas");
    for (String name : ApiDescription.names(schemas)) {
      ApiDescription.shipped().schema(schemas.path(name)).initializeValidators();
    }
  }

  @Test
  void aWrongAnswerIsNoticed() {
    for (String body :
        List.of(
            "{\"healthy\":true}",
            "{\"healthy\":1,\"version\":\"x\"}",
            "{\"healthy\":true,\"version\":\"x\",\"surprise\":1}")) {
      assertThat(failsFor("/health", 200, body)).as(body).isTrue();
    }
    assertThat(failsFor("/health", 200, "{\"healthy\":true,\"version\":\"x\"}")).isFalse();
    assertThat(failsFor("/health", 201, "{\"healthy\":true,\"version\":\"x\"}")).isTrue();
    String error =
        "{\"request_id\":\"req-00000000\",\"error\":\"%s\",\"message\":\"\",\"details\":{}}";
    assertThat(failsFor("/health", 500, error.formatted("internal_error"))).isFalse();
    assertThat(failsFor("/health", 500, error.formatted("oops"))).isTrue();
  }

  private static boolean failsFor(String path, int status, String body) {
    try {
      ApiDescription.shipped()
          .check(
              "GET",
              path,
              status,
              java.util.Map.of("content-type", "application/json", "x-request-id", "req-00000000"),
              body);
      return false;
    } catch (AssertionError noticed) {
      return true;
    }
  }
}
