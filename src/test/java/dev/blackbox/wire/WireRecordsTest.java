package dev.blackbox.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** How messages, trace events and times look outside. */
class WireRecordsTest {

  @Test
  void aMessageHasAllItsFieldsAbsentOnesAsNull() {
    assertThat(Json.write(Message.user("hi")))
        .isEqualTo(
            "{\"role\":\"user\",\"content\":\"hi\",\"reasoning_content\":null,\"tool_calls\":null,"
                + "\"tool_call_id\":null,\"name\":null}");
    Message call =
        Message.assistant(
            null, "why", List.of(Message.ToolCall.function("c1", "ls", "{\"a\": 1}")));
    assertThat(Json.write(call))
        .isEqualTo(
            "{\"role\":\"assistant\",\"content\":null,\"reasoning_content\":\"why\",\"tool_calls\":"
                + "[{\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"ls\","
                + "\"arguments\":\"{\\\"a\\\": 1}\"}}],\"tool_call_id\":null,\"name\":null}");
    assertThat(Json.convert(Json.toTree(call), Message.class)).isEqualTo(call);
  }

  @Test
  void aTraceEventHasTheNamesOfTheReference() {
    TraceEvent event =
        TraceEvent.of(
            "t1", 3, "opencode", "text", Map.of("k", 1), Instant.parse("2026-01-02T03:04:05Z"));
    assertThat(Json.write(event))
        .isEqualTo(
            "{\"turn_id\":\"t1\",\"seq\":3,\"source\":\"opencode\",\"event_type\":\"text\","
                + "\"payload\":{\"k\":1},\"created_at\":\"2026-01-02T03:04:05.000000Z\"}");
  }

  @Test
  void timesHaveSixDigitsWhateverTheClockGives() {
    assertThat(Timestamps.iso(Instant.parse("2026-01-02T03:04:05Z")))
        .isEqualTo("2026-01-02T03:04:05.000000Z");
    assertThat(Timestamps.iso(Instant.parse("2026-12-31T23:59:59.123456789Z")))
        .isEqualTo("2026-12-31T23:59:59.123456Z");
    assertThat(Timestamps.iso(Instant.EPOCH.minusNanos(1)))
        .isEqualTo("1969-12-31T23:59:59.999999Z");
  }
}
