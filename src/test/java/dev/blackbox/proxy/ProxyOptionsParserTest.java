package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.wire.Json;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProxyOptionsParserTest {

  @Test
  void absentMeansTheDefaults() {
    ProxyOptions defaults =
        new ProxyOptions("X-SMG-Routing-Key", OptionalInt.of(100), OptionalDouble.empty());
    assertThat(ProxyOptionsParser.fromBackendOptions(Map.of())).isEqualTo(defaults);
    assertThat(ProxyOptionsParser.parse(Map.of())).isEqualTo(defaults);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"max_steps\":5} | 5",
        "{\"max_steps\":\"5\"} | 5",
        "{\"max_steps\":5.0} | 5",
        "{\"max_steps\":true} | 1",
        "{\"max_steps\":99999999999999999999} | 2147483647"
      })
  void stepsAreTakenLeniently(String json, int steps) {
    assertThat(parse(json).stepsMax()).hasValue(steps);
  }

  @Test
  void nullStepsMeanNoLimit() {
    assertThat(parse("{\"max_steps\":null}").stepsMax()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.5", "\"0.5\"", "5e-1"})
  void temperatureIsTakenLeniently(String value) {
    assertThat(parse("{\"default_temperature\":" + value + "}").defaultTemperature()).hasValue(0.5);
    assertThat(parse("{\"default_temperature\":0}").defaultTemperature()).hasValue(0.0);
    assertThat(parse("{\"default_temperature\":null}").defaultTemperature()).isEmpty();
  }

  @Test
  void stickyHeaderMayBeEmpty() {
    assertThat(parse("{\"sticky_header_name\":\"\"}").stickyHeaderName()).isEmpty();
    assertThat(parse("{\"sticky_header_name\":\"X-Mine\"}").stickyHeaderName()).isEqualTo("X-Mine");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"x\":1} | x",
        "{\"max_steps\":0} | max_steps",
        "{\"max_steps\":-1} | max_steps",
        "{\"max_steps\":false} | max_steps",
        "{\"max_steps\":5.5} | max_steps",
        "{\"max_steps\":\"abc\"} | max_steps",
        "{\"max_steps\":[]} | max_steps",
        "{\"default_temperature\":-0.1} | default_temperature",
        "{\"default_temperature\":\"warm\"} | default_temperature",
        "{\"default_temperature\":1e999} | default_temperature",
        "{\"sticky_header_name\":5} | sticky_header_name",
        "{\"sticky_header_name\":null} | sticky_header_name",
        "{\"sticky_header_name\":\"a b\"} | sticky_header_name",
        "{\"sticky_header_name\":\"Host\"} | sticky_header_name"
      })
  void whatIsWrongIsNamed(String json, String field) {
    Problem problem = catchThrowableOfType(Problem.class, () -> parse(json));
    assertThat(problem.code()).isEqualTo(ErrorCode.REQUEST_ERROR);
    assertThat(problem.text())
        .startsWith("Invalid proxy config: ")
        .contains("backend_options.proxy." + field);
  }

  @Test
  void everyComplaintIsMade() {
    assertThatThrownBy(() -> parse("{\"x\":1,\"max_steps\":0}"))
        .hasMessageContaining("proxy.x")
        .hasMessageContaining("proxy.max_steps");
  }

  @Test
  void whatIsNoObjectIsRefused() {
    for (Object value : new Object[] {5, "x", true, List.of()}) {
      assertThatThrownBy(() -> ProxyOptionsParser.fromBackendOptions(Map.of("proxy", value)))
          .isInstanceOf(Problem.class)
          .hasMessage("backend_options.proxy must be an object.");
    }
    assertThatThrownBy(() -> ProxyOptionsParser.fromBackendOptions(Json.object("{\"proxy\":null}")))
        .isInstanceOf(Problem.class)
        .hasMessageContaining("proxy");
  }

  private static ProxyOptions parse(String json) {
    return ProxyOptionsParser.fromBackendOptions(Json.object("{\"proxy\":" + json + "}"));
  }
}
