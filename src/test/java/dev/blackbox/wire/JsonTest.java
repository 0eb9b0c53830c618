package dev.blackbox.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {

  @Test
  void treesKeepTheirOrderAndTheirNumbers() throws MalformedJsonException {
    String text = "{\"b\":1,\"a\":[null,true,1.0,5000000000,1e2],\"big\":123456789012345678901}";
    Object tree = Json.parse(text);
    Map<String, @Nullable Object> expected = new LinkedHashMap<>();
    expected.put("b", 1);
    expected.put("a", Arrays.asList(null, true, 1.0, 5_000_000_000L, 100.0));
    expected.put("big", new BigInteger("123456789012345678901"));
    assertThat(tree).isEqualTo(expected);
    assertThat(Json.write(tree)).isEqualTo(text.replace("1e2", "100.0"));
    assertThat(Json.parse(text.getBytes(StandardCharsets.UTF_8))).isEqualTo(tree);
  }

  @Test
  void exactTreesAreWrittenAsTheyWereRead() throws MalformedJsonException {
    String text =
        "{\"b\":[1.10,-0,1e2,1E+999999999,[]],\"a\":{\"n\":null,\"t\":true,\"f\":false},"
            + "\"big\":123456789012345678901.25,\"l\":5000000000,\"s\":\"\u00e9\"}";
    Object tree = Json.parseExactly(text);
    assertThat(Json.write(tree)).isEqualTo(text);
    assertThat(Json.parseExactly(text.getBytes(StandardCharsets.UTF_8))).isEqualTo(tree);
    assertThat(Json.write(Json.parseExactly("5"))).isEqualTo("5");
    assertThat(tree)
        .asInstanceOf(InstanceOfAssertFactories.map(String.class, Object.class))
        .containsEntry("l", 5_000_000_000L);
  }

  /** Not by its value: that has a thousand million digits. */
  @Test
  void aNumberCostsWhatItsTextCosts() throws MalformedJsonException {
    String many = "[" + "1e999999999,".repeat(10_000) + "-1e-999999999]";
    assertThat(Json.write(Json.parseExactly(many))).isEqualTo(many);
    assertThatThrownBy(() -> Json.parseExactly("[" + "1".repeat(1001) + "]"))
        .isInstanceOf(MalformedJsonException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "{",
        "{} {}",
        "{'a':1}",
        "[1,]",
        "NaN",
        "01",
        "1.",
        "nul",
        "\"\u0001\"",
        "]"
      })
  void whatIsNotJsonIsNoExactTreeEither(String text) {
    assertThatThrownBy(() -> Json.parseExactly(text)).isInstanceOf(MalformedJsonException.class);
    assertThatThrownBy(() -> Json.parseExactly(text.getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(MalformedJsonException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "{", "{} {}", "{'a':1}", "[1,]", "NaN", "nul", "\"\u0001\""})
  void whatIsNotJsonIsRefused(String text) {
    assertThatThrownBy(() -> Json.parse(text)).isInstanceOf(MalformedJsonException.class);
  }

  @Test
  void aRefusalSaysWhereAndDoesNotRepeatTheInput() {
    assertThatThrownBy(() -> Json.parse("{\"k\": s3cret"))
        .isInstanceOfSatisfying(
            MalformedJsonException.class,
            malformed -> assertThat(malformed.byteOffset()).isPositive())
        .hasMessageContaining("line 1")
        .hasMessageNotContaining("s3cret");
  }

  @Test
  void nestingIsBounded() throws MalformedJsonException {
    String deepest = "[".repeat(Json.DEPTH_MAX) + "]".repeat(Json.DEPTH_MAX);
    assertThat(Json.parse(deepest)).isInstanceOf(List.class);
    assertThatThrownBy(() -> Json.parseExactly("[" + deepest + "]"))
        .isInstanceOf(MalformedJsonException.class);
    assertThatThrownBy(() -> Json.parse("[" + deepest + "]"))
        .isInstanceOf(MalformedJsonException.class)
        .hasMessageContaining("nested");
  }

  @Test
  void storedJsonGoesOutByteForByte() {
    String stored = "[ {\"a\" : 1.50, \"b\":\"\\u00e9\"} ]";
    assertThat(Json.write(Map.of("outputs", new RawJson(stored))))
        .isEqualTo("{\"outputs\":" + stored + "}");
  }

  @Test
  void halfASurrogatePairIsReplacedSoThatEveryAnswerCanBeWritten() {
    String half = "a\uD83D";
    assertThat(Json.write(Map.of(half, List.of(half, "\uDE00b", "\uD83D\uDE00"))))
        .isEqualTo("{\"a\uFFFD\":[\"a\uFFFD\",\"\uFFFDb\",\"\uD83D\uDE00\"]}");
    assertThat(new String(Json.writeBytes(Message.user(half)), StandardCharsets.UTF_8))
        .contains("\"content\":\"a\uFFFD\"");
  }

  @Test
  void damageInOurOwnJsonIsNotTakenForInput() {
    assertThatThrownBy(() -> Json.object("[]")).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> Json.array("{")).isInstanceOf(IllegalStateException.class);
  }
}
