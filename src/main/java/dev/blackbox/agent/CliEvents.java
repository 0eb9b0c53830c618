package dev.blackbox.agent;

import dev.blackbox.kernel.TurnId;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.MalformedJsonException;
import dev.blackbox.wire.TraceEvent;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * The JSON lines of one turn: reads them, keeps them as its trace, and remembers what they said
 * about errors. Lines that are no JSON objects are kept in the trace as such and otherwise passed
 * over. Source of the error texts' form and limits: reference server, sections 5.9 and 6.7.
 */
public final class CliEvents {

  /** Longest text that is kept as a part of a trace event. */
  private static final int TRACE_TEXT_MAX = 64 << 10;

  /** Most that is kept of a turn's trace, in characters. */
  private static final long TRACE_MAX = 8 << 20;

  /** What a value costs besides its text: quotes, colons, commas and the like. */
  private static final int VALUE_OVERHEAD = 8;

  private static final int NOISE_MAX = 1_000;
  private static final int ERROR_EVENTS = 20;
  private static final int ERROR_MAX = 400;
  private static final int ERRORS_MAX = 1_200;

  private final String type;
  private final TurnId turn;
  private final InstantSource clock;
  private final List<TraceEvent> trace = new ArrayList<>();
  private long nextSequence;
  private long traceCharacters;
  private boolean traceIsFull;
  private final Deque<ErrorText> errors = new ArrayDeque<>();
  private long events;
  private @Nullable String noise;

  private record ErrorText(long event, String text) {}

  /**
   * @param type the backend's
   */
  public CliEvents(String type, AgentTask task, InstantSource clock) {
    this.type = type;
    this.turn = task.turnId();
    this.nextSequence = task.traceSequence();
    this.clock = clock;
  }

  /** Reads one line. Empty if it is blank or no JSON object. */
  public Optional<Map<?, ?>> read(byte[] line) {
    String text = new String(line, StandardCharsets.UTF_8).strip();
    if (text.isEmpty()) {
      return Optional.empty();
    }
    events++;
    try {
      if (Json.parse(text) instanceof Map<?, ?> event) {
        trace(event.get("type") instanceof String name ? name : "event", event);
        return Optional.of(event);
      }
    } catch (MalformedJsonException noJson) {
      // kept as what it is: some programs print banners or warnings among their events
    }
    String shown = Texts.cut(text, NOISE_MAX);
    noise = noise == null ? shown : noise;
    trace("stdout", Map.of("type", "stdout", "text", shown));
    return Optional.empty();
  }

  /** A remark of ours. */
  public void note(String remark) {
    trace("server_note", Map.of("type", "server_note", "text", remark));
  }

  /**
   * The event that was read last says this about an error.
   *
   * @param label what the value is, such as {@code error=}; may be empty
   */
  public void error(String label, Object value) {
    errors.addLast(new ErrorText(events, label + Texts.compact(value, ERROR_MAX)));
    while (errors.size() > ERROR_EVENTS) {
      errors.removeFirst();
    }
  }

  /** The first line that was no JSON object. */
  public Optional<String> noise() {
    return Optional.ofNullable(noise);
  }

  /**
   * What is told about a run that failed.
   *
   * @param label how errors in the events are announced
   * @param hint what to do about it; may be empty
   */
  public String failure(CliExit exit, String label, String hint) {
    StringJoiner told = new StringJoiner("; ");
    told.add(
        exit.ended()
            ? type + " did not exit and was ended"
            : type + " exited with code " + exit.code());
    String said = recentErrors();
    if (!said.isEmpty()) {
      told.add(label + ": " + said);
    }
    if (!exit.errors().isEmpty()) {
      told.add("stderr tail: " + exit.errors());
    }
    if (!exit.output().isEmpty()) {
      told.add("stdout tail: " + exit.output());
    }
    if (!hint.isEmpty()) {
      told.add(hint);
    }
    return told.toString();
  }

  private String recentErrors() {
    StringJoiner said = new StringJoiner(" | ");
    for (ErrorText error : errors) {
      if (error.event() > events - ERROR_EVENTS) {
        said.add(error.text());
      }
    }
    return Texts.cut(said.toString(), ERRORS_MAX);
  }

  /** The trace as a JSON array. */
  public String traceJson() {
    return Json.write(trace);
  }

  private void trace(String eventType, Map<?, ?> event) {
    if (traceIsFull) {
      return;
    }
    Map<String, @Nullable Object> payload = bounded(event);
    if (traceCharacters > TRACE_MAX) {
      traceIsFull = true;
      add("trace_truncated", Map.of("type", "trace_truncated", "characters_max", TRACE_MAX));
    } else {
      add(eventType, payload);
    }
  }

  private void add(String eventType, Map<String, @Nullable Object> payload) {
    trace.add(
        TraceEvent.of(turn.value(), nextSequence++, type, eventType, payload, clock.instant()));
  }

  private Map<String, @Nullable Object> bounded(Map<?, ?> object) {
    Map<String, @Nullable Object> copy = new LinkedHashMap<>();
    object.forEach(
        (key, value) -> {
          String name = String.valueOf(key);
          traceCharacters += name.length();
          copy.put(name, boundedValue(value));
        });
    return copy;
  }

  private @Nullable Object boundedValue(@Nullable Object value) {
    traceCharacters += VALUE_OVERHEAD;
    return switch (value) {
      case String text -> {
        String kept = Texts.cut(text, TRACE_TEXT_MAX);
        traceCharacters += kept.length();
        yield kept;
      }
      case Map<?, ?> map -> bounded(map);
      case List<?> list -> {
        List<@Nullable Object> copy = new ArrayList<>(list.size());
        list.forEach(entry -> copy.add(boundedValue(entry)));
        yield copy;
      }
      case null, default -> value;
    };
  }
}
