package dev.blackbox.app.engine;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What the model says to one call.
 *
 * @param finishReason empty: {@code tool_calls} if a tool is called, else {@code stop}
 * @param fault what goes wrong
 * @param faultTimes how often it goes wrong at this place of a conversation before it goes well
 */
public record Step(
    List<Part> parts,
    Optional<String> finishReason,
    Pace pace,
    Optional<Fault> fault,
    int faultTimes) {

  public Step {
    parts = List.copyOf(parts);
  }

  /** Says these parts, at once. */
  public static Step of(Part... parts) {
    return new Step(List.of(parts), Optional.empty(), Pace.INSTANT, Optional.empty(), 0);
  }

  public static Step text(String text) {
    return of(new Part.Text(text));
  }

  public static Step toolCall(String name, String argumentsJson) {
    return of(new Part.ToolCall(name, argumentsJson));
  }

  /** Goes wrong every time. */
  public Step with(Fault what) {
    return with(what, Integer.MAX_VALUE);
  }

  /** Goes wrong so many times, then well. */
  public Step with(Fault what, int times) {
    return new Step(parts, finishReason, pace, Optional.of(what), times);
  }

  public Step with(Pace other) {
    return new Step(parts, finishReason, other, fault, faultTimes);
  }

  public Step withFinishReason(String reason) {
    return new Step(parts, Optional.of(reason), pace, fault, faultTimes);
  }

  public Step withDelayBetweenEvents(Duration delay) {
    return with(new Pace(pace.beforeFirst(), pace.heartbeats(), delay, pace.chunkCharacters()));
  }

  public Step withDelayBeforeFirst(Duration delay) {
    return with(new Pace(delay, pace.heartbeats(), pace.betweenEvents(), pace.chunkCharacters()));
  }

  public Step withHeartbeats(int count) {
    return with(new Pace(pace.beforeFirst(), count, pace.betweenEvents(), pace.chunkCharacters()));
  }

  public Step withChunkCharacters(int characters) {
    return with(new Pace(pace.beforeFirst(), pace.heartbeats(), pace.betweenEvents(), characters));
  }
}
