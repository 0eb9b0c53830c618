package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.Fault;
import dev.blackbox.app.engine.Part;
import dev.blackbox.app.engine.Step;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tool calls for agents that speak chat completions: as the engine wrote them, but only whole. */
class ChatToolCallsTest {

  private static final Step STEP = Step.text("never said");
  private static final String DONE = "data: [DONE]\n\n";
  private static final String USAGE =
      "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":4}}\n\n";

  private ProxyRig rig;

  @BeforeEach
  void start() {
    rig = new ProxyRig(EngineScript.always(STEP));
  }

  @AfterEach
  void stop() {
    rig.close();
  }

  private static String text(int choice, String text) {
    return chunk(choice, "\"content\": \"" + text + "\"", "null");
  }

  /** Strange spacing, of which nothing may be changed. */
  private static String chunk(int choice, String delta, String finishReason) {
    return "data:  { \"choices\" :[{\"index\":"
        + choice
        + ",\"delta\": {"
        + delta
        + "},\"finish_reason\": "
        + finishReason
        + "}]}\r\n\r\n";
  }

  private static String end(int choice, String reason) {
    return chunk(choice, "", "\"" + reason + "\"");
  }

  private static String call(int choice, int index, String head, String arguments) {
    return chunk(choice, "\"tool_calls\":[" + piece(index, head, arguments) + "]", "null");
  }

  private static String piece(int index, String head, String arguments) {
    String name = head.isEmpty() ? "" : "\"name\":\"" + head + "\",";
    String id = head.isEmpty() ? "" : "\"id\":\"call-" + head + "\",";
    String json = arguments.replace("\"", "\\\"");
    return "{\"index\":%d,%s\"function\":{%s\"arguments\":\"%s\"}}"
        .formatted(index, id, name, json);
  }

  private TestAgent.Answer ask(String body, String... events) throws Exception {
    rig.engine.script(
        EngineScript.always(STEP.with(new Fault.InsertAfterEvents(0, String.join("", events)))));
    try (TurnScope turn = rig.openTurn("t1")) {
      TestAgent.Answer answer = rig.chat(body);
      assertThat(turn.drain(Duration.ofSeconds(5))).isTrue();
      return answer;
    }
  }

  private static Stream<Arguments> whole() {
    return Stream.of(
        Arguments.of("{}", ""),
        Arguments.of("{\"a\": ", "[1]}"),
        Arguments.of("", ""),
        Arguments.of("[1", "]"),
        Arguments.of("{\"deep\":\"\\u00e9", "\"}"));
  }

  @ParameterizedTest
  @MethodSource("whole")
  void whatIsWholeGoesOutAsItCame(String first, String rest) throws Exception {
    String[] events = {
      text(0, "I look."),
      call(0, 0, "read", first),
      call(0, 1, "write", "{"),
      call(0, 0, "", rest),
      call(0, 1, "", "}"),
      end(0, "tool_calls"),
      USAGE,
      DONE
    };
    TestAgent.Answer answer = ask(ProxyRig.streamBody("a"), events);
    assertThat(answer.body()).isEqualTo(String.join("", events));
    assertThat(answer.ended()).isTrue();
    assertThat(rig.sink.onlyEnd().toolCalls()).isEqualTo(2);
    assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("ok");
  }

  @Test
  void textThatComesAmongCallsDoesNotWaitForThem() throws Exception {
    String first = call(0, 0, "read", "{");
    String between = text(0, "Meanwhile.");
    String last = chunk(0, "\"tool_calls\":[" + piece(0, "", "}") + "]", "\"tool_calls\"");
    assertThat(ask(ProxyRig.streamBody("a"), first, between, last, USAGE, DONE).body())
        .isEqualTo(between + first + last + USAGE + DONE);
  }

  @Test
  void eachChoiceHasItsOwnCalls() throws Exception {
    String first = call(0, 0, "read", "{");
    String other = call(1, 0, "read", "{}");
    String text = text(1, "Meanwhile.");
    String rest = call(0, 0, "", "}");
    String[] ends = {end(1, "tool_calls"), end(0, "tool_calls")};
    String body = ProxyRig.streamBody("a").replaceFirst("\\{", "{\"n\": 2, ");
    assertThat(ask(body, first, other, text, ends[0], rest, ends[1], USAGE, DONE).body())
        .isEqualTo(text + first + other + ends[0] + rest + ends[1] + USAGE + DONE);
  }

  @Test
  void aCallThatTheLengthLimitCutIsLeftOutAndWholeOnesStay() throws Exception {
    String whole = call(0, 0, "read", "{}");
    String cut = call(0, 1, "write", "{\"text\": \"aaa");
    String both =
        chunk(
            0,
            "\"tool_calls\":[" + piece(0, "", " ") + "," + piece(1, "", "bbb") + "]",
            "\"length\"");
    TestAgent.Answer answer = ask(ProxyRig.streamBody("a"), whole, cut, both, USAGE, DONE);
    assertThat(answer.body())
        .startsWith(whole)
        .contains("\"finish_reason\":\"length\"")
        .contains("\"arguments\":\" \"")
        .doesNotContain("write", "aaa", "bbb")
        .endsWith(USAGE + DONE);
    assertThat(answer.ended()).isTrue();
    assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("ok");
  }

  @Test
  void aPlainAnswersCutCallIsLeftOutToo() throws Exception {
    String answer =
        "{\"choices\": [{\"message\": {\"role\": \"assistant\", \"tool_calls\": ["
            + piece(0, "read", "{}")
            + ","
            + piece(1, "write", "{\"te")
            + "]}, \"finish_reason\": \"length\"}]}";
    rig.engine.script(EngineScript.always(STEP.with(Fault.Instead.error(200, answer))));
    try (TurnScope _ = rig.openTurn("t1")) {
      assertThat(rig.chat(ProxyRig.plainBody("a")).body())
          .isEqualTo(
              "{\"choices\":[{\"message\":{\"role\":\"assistant\",\"tool_calls\":["
                  + piece(0, "read", "{}")
                  + "]},\"finish_reason\":\"length\"}]}");
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("ok");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"custom\":{\"name\":\"x\",\"input\":\"{"
            + " no\"}}]",
        "\"function_call\":{\"name\":\"old\",\"arguments\":\"{}\"}"
      })
  void callsOfOtherKindsPass(String delta) throws Exception {
    String[] events = {chunk(0, delta, "null"), end(0, "stop"), DONE};
    assertThat(ask(ProxyRig.streamBody("a"), events).body()).isEqualTo(String.join("", events));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"x\",\"arguments\":\"{\"}}]",
        "\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{}\"}}]",
        "\"function_call\":{\"name\":\"old\",\"arguments\":\"{\"}"
      })
  void whatIsBrokenIsNotLetOut(String delta) throws Exception {
    String said = text(0, "I look.");
    TestAgent.Answer answer =
        ask(ProxyRig.streamBody("a"), said, chunk(0, delta, "null"), end(0, "tool_calls"), DONE);
    assertThat(answer.body())
        .startsWith(said + "data: {\"error\":")
        .contains("upstream_malformed")
        .doesNotContain("tool_calls", "function_call", "DONE");
    assertThat(answer.ended()).isFalse();
    assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("upstream_error");
  }

  /** The calls are whole, but the answer is not: nobody can say what would have followed. */
  @ParameterizedTest
  @EnumSource
  void textIsOutWhileCallsAreHeldAndAStallLetsNoneOut(Tongue tongue) throws Exception {
    Step speaks =
        Step.of(new Part.Text("a longer answer"), new Part.ToolCall("dangerous", "{\"x\": 1}"));
    rig.engine.script(EngineScript.always(speaks.with(new Fault.Stall(4, Duration.ofSeconds(30)))));
    try (TurnScope turn = rig.openTurn("t1")) {
      TestAgent.Answer answer = tongue.ask(rig, tongue.body(true));
      assertThat(answer.body()).contains("a longer").doesNotContain("dangerous");
      assertThat(tongue.isGoodEnd(answer)).isFalse();
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("timeout");
      assertThat(turn.verdict()).containsInstanceOf(Verdict.UpstreamFailed.class);
    }
  }

  @ParameterizedTest
  @EnumSource
  void callsThatAreTooLongEndTheAnswer(Tongue tongue) throws Exception {
    rig.close();
    rig =
        new ProxyRig(
            ProxyRig.CONFIG.withToolCallBytesMax(2_000),
            EngineScript.always(
                Step.of(
                    new Part.Text("a longer answer"),
                    new Part.ToolCall("dangerous", "{\"x\": \"" + "y".repeat(3_000) + "\"}"))));
    try (TurnScope _ = rig.openTurn("t1")) {
      TestAgent.Answer answer = tongue.ask(rig, tongue.body(true));
      assertThat(answer.body()).contains("a longer").doesNotContain("dangerous");
      assertThat(tongue.isGoodEnd(answer)).isFalse();
      assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("upstream_error");
      assertThat(rig.sink.onlyEnd().error().orElseThrow()).contains("2000 bytes");
    }
  }
}
