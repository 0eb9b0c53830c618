package dev.blackbox.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SseDecoderTest {

  private static final int BYTES_MAX = 4096;

  /** All that the format allows, with one kind of line end. */
  private static String stream(String lineEnd) {
    return String.join(
        lineEnd,
        ": heartbeat",
        "",
        "data: {\"a\":1}",
        "",
        "data:no space",
        "",
        "event: named",
        "id: 7",
        "data:  two spaces",
        "data",
        "data: naïve 🦜 é",
        "",
        "",
        "retry: 5",
        "",
        "dataset: not data",
        "data: [DONE]",
        "",
        "");
  }

  private static final List<String> CONTENTS =
      List.of("{\"a\":1}", "no space", " two spaces\n\nnaïve 🦜 é", "[DONE]");

  @ParameterizedTest
  @ValueSource(strings = {"\n", "\r\n", "\r"})
  void eventsAreTheSameHoweverTheStreamIsCut(String lineEnd) throws SseTooLongException {
    byte[] bytes = stream(lineEnd).getBytes(StandardCharsets.UTF_8);
    for (int first = 0; first <= bytes.length; first++) {
      for (int second = first; second <= bytes.length; second += 7) {
        Decoded decoded = decode(bytes, first, second);
        assertThat(decoded.contents).isEqualTo(CONTENTS);
        assertThat(decoded.raw).isEqualTo(stream(lineEnd));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"\n", "\r\n", "\r"})
  void eventsAreTheSameByteByByte(String lineEnd) throws SseTooLongException {
    SseDecoder decoder = new SseDecoder(BYTES_MAX);
    Decoded decoded = new Decoded();
    for (byte b : stream(lineEnd).getBytes(StandardCharsets.UTF_8)) {
      decoder.append(new byte[] {b}, 0, 1);
      decoded.takeAll(decoder);
    }
    assertThat(decoded.contents).isEqualTo(CONTENTS);
  }

  @ParameterizedTest
  @ValueSource(strings = {"\n\n", "\r\r", "\r\n\r"})
  void eventGoesOutAsSoonAsItsEmptyLineIsSure(String end) throws SseTooLongException {
    SseDecoder decoder = new SseDecoder(BYTES_MAX);
    append(decoder, "data: x" + end.substring(0, end.length() - 1));
    assertThat(decoder.next()).isNull();
    append(decoder, end.substring(end.length() - 1));
    assertThat(contentOf(decoder.next())).isEqualTo("x");
  }

  @Test
  void byteOrderMarkIsPassedOver() throws SseTooLongException {
    SseDecoder decoder = new SseDecoder(BYTES_MAX);
    append(decoder, "\uFEFFdata: x\n\n");
    Decoded decoded = new Decoded();
    decoded.takeAll(decoder);
    assertThat(decoded.contents).containsExactly("x");
  }

  @Test
  void eventOfTwoMegabytesComesWhole() throws SseTooLongException {
    SseDecoder decoder = new SseDecoder(4 << 20);
    String large = "y".repeat(2 << 20);
    byte[] bytes = ("data: " + large + "\n\ndata: z\n\n").getBytes(StandardCharsets.UTF_8);
    Decoded decoded = new Decoded();
    for (int i = 0; i < bytes.length; i += 16 << 10) {
      decoder.append(bytes, i, Math.min(16 << 10, bytes.length - i));
      decoded.takeAll(decoder);
    }
    assertThat(decoded.contents).containsExactly(large, "z");
  }

  @Test
  void p10EventBeyondTheBoundIsRefused() throws SseTooLongException {
    SseDecoder decoder = new SseDecoder(100);
    append(decoder, "data: short\n\n");
    assertThat(decoder.next()).isNotNull();
    append(decoder, "data: " + "x".repeat(95));
    assertThatThrownBy(decoder::next)
        .isInstanceOf(SseTooLongException.class)
        .hasMessageContaining("100");
  }

  @Test
  void restIsWhatCameAfterTheLastEmptyLine() throws SseTooLongException {
    SseDecoder decoder = new SseDecoder(BYTES_MAX);
    append(decoder, "data: a\n\ndata: [DONE]\n");
    assertThat(decoder.next()).isNotNull();
    assertThat(decoder.next()).isNull();
    assertThat(contentOf(decoder.rest())).isEqualTo("[DONE]");
    assertThat(decoder.rest()).isNull();
  }

  private static String contentOf(SseDecoder.@Nullable Event event) {
    return event == null ? "no event" : String.valueOf(event.data());
  }

  private static Decoded decode(byte[] bytes, int first, int second) throws SseTooLongException {
    SseDecoder decoder = new SseDecoder(BYTES_MAX);
    Decoded decoded = new Decoded();
    int[] cuts = {0, first, second, bytes.length};
    for (int i = 0; i + 1 < cuts.length; i++) {
      decoder.append(bytes, cuts[i], cuts[i + 1] - cuts[i]);
      decoded.takeAll(decoder);
    }
    SseDecoder.Event rest = decoder.rest();
    if (rest != null) {
      decoded.take(rest);
    }
    return decoded;
  }

  private static void append(SseDecoder decoder, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    decoder.append(bytes, 0, bytes.length);
  }

  private static final class Decoded {
    final List<String> contents = new ArrayList<>();
    String raw = "";

    void takeAll(SseDecoder decoder) throws SseTooLongException {
      for (SseDecoder.Event event = decoder.next(); event != null; event = decoder.next()) {
        take(event);
      }
    }

    void take(SseDecoder.Event event) {
      raw +=
          new String(
              event.raw().array(),
              event.raw().start(),
              event.raw().length(),
              StandardCharsets.UTF_8);
      if (event.hasContent()) {
        contents.add(String.valueOf(event.data()));
      }
    }
  }
}
