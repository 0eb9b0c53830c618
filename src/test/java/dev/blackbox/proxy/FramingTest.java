package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.Step;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.SseDecoder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** However an engine frames its events and packets, an agent of each dialect gets the same text. */
class FramingTest {

  private static final String SAID = "hé🦜llo \\n data: wörld";
  private static final Duration LONG = Duration.ofSeconds(60);
  private static final ProxyConfig CONFIG =
      new ProxyConfig(0, 1 << 20, 16 << 20, 64, LONG, LONG, LONG);

  /** What is done with a stream whose lines end with LF. */
  @SuppressWarnings("ImmutableEnumChecker") // the functions hold nothing that changes
  enum Framing {
    LF(stream -> stream),
    CR(stream -> stream.replace('\n', '\r')),
    CRLF(stream -> stream.replace("\n", "\r\n")),
    COMMENTS(stream -> ": first\n\n:\n" + stream.replace("\n\n", "\n: within\n\n: between\n\n")),
    NO_SPACE(stream -> stream.replace("data: {", "data:{").replace("data: [DONE]", "data:[DONE]")),
    LINES(stream -> stream.replace(",\"choices\"", ",\ndata: \"choices\"")),
    OTHER_FIELDS(stream -> stream.replace("data: {", "id: 7\nretry: 10\nodd\ndata: {")),
    NAMED(stream -> stream.replace("data: {", "event: message\ndata: {")),
    BYTE_ORDER_MARK(stream -> "\ufeff" + stream);

    private final UnaryOperator<String> change;

    Framing(UnaryOperator<String> change) {
      this.change = change;
    }

    byte[] bytes(String text) {
      return change.apply(stream(text)).getBytes(StandardCharsets.UTF_8);
    }
  }

  private RawEngine engine;
  private ProxyRig rig;
  private TurnScope turn;

  @BeforeEach
  void start() throws IOException {
    engine = new RawEngine(_ -> {});
    rig = new ProxyRig(CONFIG, EngineScript.always(Step.text("unused")));
    rig.proxy.bind(ProxyRig.binding(engine.origin(), ProxyOptions.DEFAULTS));
    turn = rig.openTurn("t1");
  }

  @AfterEach
  void stop() throws IOException {
    turn.close();
    rig.close();
    engine.close();
  }

  private static String chunk(String delta, String finish) {
    return "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":"
        + delta
        + ",\"finish_reason\":"
        + finish
        + "}]}\n\n";
  }

  /** The text in three events, the last of which is of one letter. */
  private static String stream(String text) {
    String head = text.substring(0, text.length() - 1);
    String last = text.substring(text.length() - 1);
    return chunk("{\"role\":\"assistant\",\"content\":\"\"}", "null")
        + chunk("{\"content\":\"" + head + "\"}", "null")
        + chunk("{\"content\":\"" + last + "\"}", "null")
        + chunk("{}", "\"stop\"")
        + "data: [DONE]\n\n";
  }

  /** Each event in one packet, all in one, and each byte in its own. */
  private static Stream<List<byte[]>> packets(byte[] stream) {
    byte[][] single = new byte[stream.length][];
    for (int i = 0; i < stream.length; i++) {
      single[i] = Arrays.copyOfRange(stream, i, i + 1);
    }
    int half = stream.length / 2;
    return Stream.of(
        List.of(stream),
        List.of(Arrays.copyOf(stream, half), Arrays.copyOfRange(stream, half, stream.length)),
        List.of(single));
  }

  @ParameterizedTest
  @EnumSource
  void theSameTextComesHoweverItIsFramed(Framing framing) throws Exception {
    for (List<byte[]> packets : packets(framing.bytes(SAID)).toList()) {
      engine.answerWith(
          out -> {
            for (byte[] packet : packets) {
              out.send(packet);
            }
          });
      for (Tongue tongue : Tongue.values()) {
        TestAgent.Answer answer = tongue.ask(rig, tongue.body(true));
        String as = framing + " in " + packets.size() + " packets, " + tongue;
        assertThat(answer.status()).as(as + answer.body()).isEqualTo(200);
        assertThat(answer.ended()).as(as).isTrue();
        assertThat(text(tongue, answer.body())).as(as).isEqualTo("hé🦜llo \n data: wörld");
        if (tongue != Tongue.CHAT) {
          assertThat(tongue.isGoodEnd(answer)).as(as).isTrue();
        }
      }
    }
    assertThat(turn.drain(LONG)).isTrue();
    assertThat(rig.sink.ended()).allSatisfy(end -> assertThat(end.verdict()).isEqualTo("ok"));
  }

  @ParameterizedTest
  @EnumSource
  void oneEventOfTwoMegabytesPasses(Tongue tongue) throws Exception {
    String big = "é".repeat(1 << 20) + ".";
    engine.answerWith(out -> out.send(Framing.LF.bytes(big)));
    TestAgent.Answer answer = tongue.ask(rig, tongue.body(true));
    assertThat(answer.ended()).isTrue();
    assertThat(text(tongue, answer.body()).equals(big)).isTrue();
    assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("ok");
  }

  @ParameterizedTest
  @EnumSource
  void manyEventsInOnePacketAllPass(Tongue tongue) throws Exception {
    StringBuilder said = new StringBuilder();
    StringBuilder stream = new StringBuilder();
    for (int i = 0; i < 2000; i++) {
      said.append(i).append(' ');
      stream.append(chunk("{\"content\":\"" + i + " \"}", "null"));
    }
    stream.append(chunk("{}", "\"stop\"")).append("data: [DONE]\n\n");
    engine.answerWith(out -> out.send(stream.toString().getBytes(StandardCharsets.UTF_8)));
    TestAgent.Answer answer = tongue.ask(rig, tongue.body(true));
    assertThat(text(tongue, answer.body())).isEqualTo(said.toString());
    assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("ok");
  }

  /** The text of a streamed answer, as its agent reads it. */
  private static String text(Tongue tongue, String body) throws Exception {
    SseDecoder decoder = new SseDecoder(16 << 20);
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    decoder.append(bytes, 0, bytes.length);
    StringBuilder text = new StringBuilder();
    for (SseDecoder.Event event = decoder.next(); event != null; event = decoder.next()) {
      if (event.hasContent() && !String.valueOf(event.data()).equals("[DONE]")) {
        text.append(delta(tongue, Json.object(String.valueOf(event.data()))));
      }
    }
    return text.toString();
  }

  private static Object delta(Tongue tongue, Map<String, ?> event) {
    Object delta =
        switch (tongue) {
          case CHAT ->
              event.get("choices") instanceof List<?> choices
                      && !choices.isEmpty()
                      && choices.getFirst() instanceof Map<?, ?> choice
                      && choice.get("delta") instanceof Map<?, ?> inner
                  ? inner.get("content")
                  : null;
          case ANTHROPIC ->
              event.get("delta") instanceof Map<?, ?> inner ? inner.get("text") : null;
          case RESPONSES ->
              "response.output_text.delta".equals(event.get("type")) ? event.get("delta") : null;
        };
    return delta == null ? "" : delta;
  }
}
