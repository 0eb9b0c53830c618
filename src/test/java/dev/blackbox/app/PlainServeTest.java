package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.config.Setting;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class PlainServeTest {

  @Test
  void settingsInBothFormsAreRead() {
    assertThat(options("serve", "--port=1", "--host", "::1", "--state-dir="))
        .hasValue(Map.of(Setting.PORT, "1", Setting.HOST, "::1", Setting.STATE_DIR, ""));
    assertThat(options("serve")).hasValue(Map.of());
  }

  @ParameterizedTest
  @MethodSource("others")
  void everythingElseIsForTheCommandLineLibrary(List<String> arguments) {
    assertThat(options(arguments.toArray(String[]::new))).isEmpty();
  }

  static List<List<String>> others() {
    return List.of(
        List.of(),
        List.of("demo"),
        List.of("serve", "--help"),
        List.of("serve", "--port"),
        List.of("serve", "--port", "--host=1"),
        List.of("serve", "--port=1", "--port=2"),
        List.of("serve", "port=1"),
        List.of("serve", "--unknown=1"));
  }

  private static java.util.Optional<Map<Setting, String>> options(String... arguments) {
    return PlainServe.options(arguments);
  }
}
