package dev.blackbox.translate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.wire.Json;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EngineErrorsOfProxyTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "413 | {\"error\":\"context_overflow\"} | ContextOverflow",
        "413 | {\"code\":\"context_overflow\"} | ContextOverflow",
        "413 | {\"error\":{\"code\":\"context_overflow\"}} | ContextOverflow",
        "413 | {\"code\":\"\",\"error\":\"context_overflow\"} | ContextOverflow",
        "400 | {\"error\":\"context_overflow\"} | Other",
        "413 | {\"code\":\"other\",\"error\":\"context_overflow\"} | Other",
        "502 | {\"detail\":{\"error\":\"generation_preempted\"}} | Invalidated",
        "502 | {\"error\":\"generation_preempted\"} | Invalidated",
        "502 | {\"error\":{\"code\":\"trajectory_version_changed\"}} | Invalidated",
        "502 | {\"detail\":{\"error\":\"weight_version_mismatch\"}} | Invalidated",
        "500 | {\"detail\":{\"error\":\"generation_preempted\"}} | Other",
        "502 | {\"detail\":{\"error\":{\"deep\":1}}} | Other",
        "502 | {\"detail\":{\"error\":\"tool_call_hook_failed\"}} | Other",
        "502 | [\"generation_preempted\"] | Other",
        "502 | not json | Other",
        "502 | `` | Other"
      })
  void eachRowOfTheTable(int status, String body, String meaning) {
    EngineError error = EngineErrors.ofAnswer(status, body.getBytes(StandardCharsets.UTF_8));
    assertThat(error.getClass().getSimpleName()).isEqualTo(meaning);
    assertThat(error.message()).isNotBlank();
  }

  @Test
  void framesNameTheirStatus() {
    assertThat(EngineErrors.statusOf(Json.object("{\"error\":{\"status_code\":413}}")))
        .hasValue(413);
    assertThat(EngineErrors.statusOf(Json.object("{\"object\":\"error\",\"code\":400}")))
        .hasValue(400);
    for (String none :
        new String[] {
          "{\"error\":\"x\"}",
          "{\"error\":{\"code\":\"x\"}}",
          "{\"error\":{\"status_code\":true}}",
          "{\"error\":{\"status_code\":200}}",
          "{\"error\":{\"status_code\":600}}"
        }) {
      assertThat(EngineErrors.statusOf(Json.object(none))).isEmpty();
    }
  }

  @Test
  void messagesAreBounded() {
    String body = Json.write(Map.of("error", Map.of("message", "x".repeat(5000))));
    EngineError error = EngineErrors.ofAnswer(500, body.getBytes(StandardCharsets.UTF_8));
    assertThat(error.message()).startsWith("Upstream returned HTTP 500: xxx").hasSizeLessThan(1100);
  }
}
