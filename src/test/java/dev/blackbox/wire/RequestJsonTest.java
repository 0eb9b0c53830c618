package dev.blackbox.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RequestJsonTest {

  private static @Nullable Object parse(String text) throws MalformedJsonException {
    return RequestJson.parse(text.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void takesWhatTheReferenceTakes() throws MalformedJsonException {
    assertThat(parse("\uFEFF{\"a\":1}")).isEqualTo(Map.of("a", 1));
    assertThat(parse("{\"a\":1,\"a\":2}")).isEqualTo(Map.of("a", 2));
    assertThat(parse("[NaN,Infinity,-Infinity]"))
        .isEqualTo(List.of(Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY));
    assertThat(parse("null")).isNull();
  }

  @Test
  void refusesBytesThatAreNotUtf8AndSaysWhere() {
    byte[][] bad = {
      {'"', (byte) 0xFF, '"'},
      {'"', (byte) 0xC0, (byte) 0x80, '"'},
      {'"', (byte) 0xED, (byte) 0xA0, (byte) 0x80, '"'},
      {'"', (byte) 0xE2, (byte) 0x82}
    };
    for (byte[] body : bad) {
      assertThatThrownBy(() -> RequestJson.parse(body))
          .isInstanceOfSatisfying(
              MalformedJsonException.class,
              malformed -> assertThat(malformed.byteOffset()).isEqualTo(1))
          .hasMessageContaining("UTF-8");
    }
  }

  @Test
  void checksUtf8AlsoBeyondWhatItLooksAtAtOnce() {
    byte[] body = ("\"" + "x".repeat(100_000) + "\"").getBytes(StandardCharsets.UTF_8);
    body[90_000] = (byte) 0x80;
    assertThatThrownBy(() -> RequestJson.parse(body))
        .isInstanceOfSatisfying(
            MalformedJsonException.class,
            malformed -> assertThat(malformed.byteOffset()).isEqualTo(90_000));
  }

  @Test
  void boundsDepthAndNumberOfValuesButNotTheLengthOfText() throws MalformedJsonException {
    int depth = Json.DEPTH_MAX + 1;
    assertThatThrownBy(() -> parse("[".repeat(depth) + "]".repeat(depth)))
        .isInstanceOf(MalformedJsonException.class);
    assertThatThrownBy(() -> parse("[" + "1,".repeat(RequestJson.TOKENS_MAX) + "1]"))
        .isInstanceOf(MalformedJsonException.class);
    assertThat(parse("\"" + "x".repeat(25_000_000) + "\"")).asString().hasSize(25_000_000);
  }

  @Test
  void knowsHalfASurrogatePair() throws MalformedJsonException {
    assertThat(RequestJson.isWellFormed(String.valueOf(parse("\"\\ud83d\\ude00\"")))).isTrue();
    assertThat(RequestJson.isWellFormed(String.valueOf(parse("\"\\ud83d\"")))).isFalse();
    assertThat(RequestJson.isWellFormed(String.valueOf(parse("\"\\ude00\\ud83d\"")))).isFalse();
  }
}
