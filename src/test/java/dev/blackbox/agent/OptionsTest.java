package dev.blackbox.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.kernel.Problem;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class OptionsTest {

  static Stream<Arguments> integers() {
    return Stream.of(
        Arguments.of(5, 5L),
        Arguments.of(5L, 5L),
        Arguments.of(5.0, 5L),
        Arguments.of("5", 5L),
        Arguments.of(" 5 ", 5L),
        Arguments.of("5.0", 5L),
        Arguments.of(true, 1L),
        Arguments.of(false, 0L),
        Arguments.of(5.5, null),
        Arguments.of("5.5", null),
        Arguments.of("five", null),
        Arguments.of("", null),
        Arguments.of(Double.NaN, null),
        Arguments.of(BigInteger.TWO.pow(70), null),
        Arguments.of("1e999999999", null),
        Arguments.of(List.of(5), null),
        Arguments.of(Map.of(), null));
  }

  @ParameterizedTest(name = "{0} is {1}")
  @MethodSource("integers")
  void integersAreReadLeniently(Object given, Long expected) {
    Options options = Options.of("test", Map.of("n", given));

    OptionalLong read = options.integer("n", 0);

    if (expected == null) {
      assertThatThrownBy(options::finish)
          .isInstanceOf(Problem.class)
          .hasMessageStartingWith("Invalid test backend_options: n: must be an integer, is ");
    } else {
      options.finish();
      assertThat(read).hasValue(expected);
    }
  }

  static Stream<Arguments> flags() {
    return Stream.of(
        Arguments.of(true, true),
        Arguments.of("yes", true),
        Arguments.of("ON", true),
        Arguments.of(1, true),
        Arguments.of(1.0, true),
        Arguments.of("0", false),
        Arguments.of("no", false),
        Arguments.of("Off", false),
        Arguments.of(0, false),
        Arguments.of(2, null),
        Arguments.of("2", null),
        Arguments.of("", null),
        Arguments.of(List.of(), null));
  }

  @ParameterizedTest(name = "{0} is {1}")
  @MethodSource("flags")
  void flagsAreReadLeniently(Object given, Boolean expected) {
    Options options = Options.of("test", Map.of("f", given));

    var read = options.flag("f");

    if (expected == null) {
      assertThatThrownBy(options::finish).hasMessageContaining("f: must be true or false, is ");
    } else {
      options.finish();
      assertThat(read).contains(expected);
    }
  }

  @Test
  void absentAndNullAreTheSameForWhatIsOptional() {
    Options options = Options.of("test", Collections.singletonMap("n", null));

    assertThat(options.integer("n", 0)).isEmpty();
    assertThat(options.integer("absent", 0)).isEmpty();
    assertThat(options.flag("flag")).isEmpty();
    assertThat(options.object("part")).isEmpty();
    options.finish();
  }

  @Test
  void stringsAreNeverRepeated() {
    Options options = Options.of("test", Map.of("n", "secret", "unknown", "secret too"));
    options.integer("n", 0);

    assertThatThrownBy(options::finish)
        .hasMessage(
            "Invalid test backend_options: n: must be an integer, is a string; unknown: unexpected"
                + " option; known are n")
        .message()
        .doesNotContain("secret");
  }

  @Test
  void whatIsRequiredMayNotBeNull() {
    Options options = Options.of("test", Collections.singletonMap("s", null));
    options.requiredString("s");
    options.requiredInteger("i", 1);

    assertThatThrownBy(options::finish)
        .hasMessageContaining("s: must be a string, is null")
        .hasMessageContaining("i: an integer is required");
  }

  @Test
  void jsonInsideStringsHasSpaces() {
    assertThat(SpacedJson.of(Map.of("cmd", "ls"))).isEqualTo("{\"cmd\": \"ls\"}");
    assertThat(SpacedJson.of(Arrays.asList(1, 2.5, null, "ä\"\n")))
        .isEqualTo("[1, 2.5, null, \"ä\\\"\\n\"]");
    assertThat(SpacedJson.of("text")).isEqualTo("\"text\"");
    assertThat(SpacedJson.of(Map.of())).isEqualTo("{}");
  }
}
