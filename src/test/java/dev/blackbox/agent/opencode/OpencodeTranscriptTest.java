package dev.blackbox.agent.opencode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.kernel.TurnId;
import dev.blackbox.turn.Usage;
import dev.blackbox.turn.Work;
import dev.blackbox.wire.Json;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Conversion of messages as opencode 1.18.33 sends them. */
class OpencodeTranscriptTest {

  private static final Instant NOW = Instant.parse("2026-11-30T16:20:00Z");

  private static final String TOOL_STEP =
      """
      {"info":{"id":"msg_2","role":"assistant","time":{"created":1,"completed":2},"finish":"tool-calls"},
       "parts":[
        {"type":"step-start"},
        {"type":"reasoning","text":"first"},{"type":"reasoning","text":""},{"type":"reasoning","text":"second"},
        {"type":"text","text":"wörking"},
        {"type":"tool","tool":"bash","callID":"call_1","state":{"status":"completed",
          "input":{"command":"ls","äö":[1,true,null]},"output":"f.txt\\n"}},
        {"type":"tool","tool":"read","callID":"call_2","state":{"status":"error",
          "input":{},"error":"Tool execution aborted"}},
        {"type":"patch","files":[]},
        {"type":"step-finish","reason":"tool-calls",
          "tokens":{"total":107,"input":60,"output":4,"reasoning":3,"cache":{"read":30,"write":10}}}]}\
      """;

  private static final String LAST_STEP =
      """
      {"info":{"id":"msg_3","role":"assistant","time":{"created":3,"completed":4},"finish":"stop"},
       "parts":[{"type":"text","text":"done"},{"type":"text","text":"twice"},
        {"type":"step-finish","tokens":{"input":5,"output":2}}]}\
      """;

  private static final String USER =
      """
      {"info":{"id":"msg_1","role":"user"},"parts":[{"type":"text","text":"please"}]}\
      """;

  @Test
  void aTurnBecomesMessagesTraceAndUsage() throws Exception {
    OpencodeTranscript transcript = transcript(USER, TOOL_STEP, LAST_STEP);
    Work work = transcript.work("ses_1");

    assertThat(work.outputsJson())
        .isEqualTo(
            Json.write(
                Json.array(
                    """
                    [{"role":"assistant","content":"wörking","reasoning_content":"first\\nsecond","tool_calls":[
                       {"id":"call_1","type":"function","function":{"name":"bash",
                        "arguments":"{\\"command\\": \\"ls\\", \\"äö\\": [1, true, null]}"}},
                       {"id":"call_2","type":"function","function":{"name":"read","arguments":"{}"}}],
                      "tool_call_id":null,"name":null},
                     {"role":"tool","content":"f.txt\\n","reasoning_content":null,"tool_calls":null,
                      "tool_call_id":"call_1","name":"bash"},
                     {"role":"tool","content":"Tool execution aborted","reasoning_content":null,"tool_calls":null,
                      "tool_call_id":"call_2","name":"read"},
                     {"role":"assistant","content":"done\\ntwice","reasoning_content":null,"tool_calls":null,
                      "tool_call_id":null,"name":null}]\
                    """)));
    // the second step gives no total: it is the sum
    assertThat(work.usage()).isEqualTo(new Usage(114, 105, 6, 3, 2, 2));
    assertThat(work.backendSessionId()).isEqualTo("ses_1");
    assertThat(transcript.isComplete()).isTrue();
    assertThat(transcript.error()).isEmpty();
    List<Object> trace = Json.array(work.traceJson());
    assertThat(trace)
        .extracting(event -> (Object) ((Map<?, ?>) event).get("seq"))
        .containsExactly(7, 8, 9, 10, 11, 12, 13, 14);
    assertThat(trace)
        .extracting(event -> (Object) ((Map<?, ?>) event).get("event_type"))
        .containsExactly(
            "step-start",
            "reasoning",
            "reasoning",
            "reasoning",
            "tool",
            "tool",
            "step-finish",
            "step-finish");
    assertThat((Map<?, ?>) trace.getFirst())
        .isEqualTo(
            Map.of(
                "turn_id", "turn-1",
                "seq", 7,
                "source", "opencode",
                "event_type", "step-start",
                "payload", Map.of("type", "step-start"),
                "created_at", "2026-11-30T16:20:00.000000Z"));
  }

  @Test
  void reasoningAloneIsAnOutputAndAStepAloneIsNone() throws Exception {
    assertThat(transcript(assistant("[{\"type\":\"reasoning\",\"text\":\"hm\"}]")).hasOutputs())
        .isTrue();
    assertThat(transcript(assistant("[{\"type\":\"step-start\"}]")).hasOutputs()).isFalse();
    assertThat(transcript(USER).hasOutputs()).isFalse();
  }

  @Test
  void aMessageWithoutAnEndIsIncomplete() throws Exception {
    String open =
        """
        {"info":{"id":"m","role":"assistant","time":{"created":1}},"parts":[]}\
        """;

    assertThat(transcript(USER).isComplete()).isFalse();
    assertThat(transcript(LAST_STEP, open).isComplete()).isFalse();
    assertThat(transcript(open, LAST_STEP).isComplete()).isTrue();
  }

  @Test
  void anErrorIsTheWordOfTheLastMessage() throws Exception {
    String failed =
        """
        {"info":{"id":"m","role":"assistant","time":{"created":1},
          "error":{"name":"ContextOverflowError","data":{"message":"too long"}}},"parts":[]}\
        """;
    String aborted = failed.replace("ContextOverflowError", "MessageAbortedError");

    assertThat(transcript(failed).error()).contains("ContextOverflowError: too long");
    assertThat(transcript(failed).isComplete()).isTrue();
    assertThat(transcript(failed).isAborted()).isFalse();
    assertThat(transcript(aborted).isAborted()).isTrue();
    assertThat(transcript(failed, LAST_STEP).error()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"info\":{\"role\":\"assistant\"}}",
        "{\"info\":{\"role\":\"assistant\"},\"parts\":3}",
        "{\"parts\":[]}",
        "{\"info\":{},\"parts\":[{\"type\":\"tool\",\"state\":\"x\"}]}"
      })
  void whatIsNotUnderstoodIsAProtocolFailure(String message) {
    assertThatThrownBy(() -> transcript(message))
        .isInstanceOfSatisfying(
            OpencodeCallException.class,
            failure ->
                assertThat(failure.kind()).isEqualTo(dev.blackbox.agent.AgentResult.Kind.PROTOCOL));
  }

  @Test
  void historiesHaveSeveralShapes() throws Exception {
    Object message = Json.parse(USER);

    assertThat(OpencodeTranscript.messages(List.of(message, 7))).containsExactly(message);
    assertThat(OpencodeTranscript.messages(Map.of("messages", List.of(message))))
        .containsExactly(message);
    assertThat(OpencodeTranscript.messages(Map.of("message", message))).containsExactly(message);
    assertThat(OpencodeTranscript.messages(message)).containsExactly(message);
    assertThatThrownBy(() -> OpencodeTranscript.messages("hello"))
        .hasMessage("Could not extract opencode messages");
  }

  private static String assistant(String parts) {
    return "{\"info\":{\"id\":\"m\",\"role\":\"assistant\"},\"parts\":" + parts + "}";
  }

  private static OpencodeTranscript transcript(String... messages) throws Exception {
    List<Object> parsed = new java.util.ArrayList<>();
    for (String message : messages) {
      parsed.add(Json.object(message));
    }
    return OpencodeTranscript.of(parsed, TurnId.parse("turn-1"), 7, NOW);
  }
}
