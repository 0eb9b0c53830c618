package dev.blackbox.app.engine;

import java.time.Duration;
import java.util.Optional;

/**
 * What goes wrong with an answer. "Events" are those of a streamed answer, heartbeats not counted;
 * in a plain answer the faults that count events come after half of the body.
 */
public sealed interface Fault {

  /** Another answer in place of the real one. */
  record Instead(int status, String contentType, String body, Optional<String> retryAfterSeconds)
      implements Fault {

    /** An error answer in JSON. */
    public static Instead error(int status, String json) {
      return new Instead(status, "application/json", json, Optional.empty());
    }
  }

  /** No answer at all: the connection is closed. */
  record NoAnswer() implements Fault {}

  /** The connection is closed after so many events; {@code reset} with a TCP reset. */
  record CutAfterEvents(int events, boolean reset) implements Fault {}

  /** The connection is closed after so many bytes of the body, in the middle of an event or not. */
  record CutAfterBytes(int bytes) implements Fault {}

  /** The stream ends well, as HTTP sees it, after so many events. */
  record EndAfterEvents(int events) implements Fault {}

  /** After so many events nothing comes for this long, or until the other side hangs up. */
  record Stall(int events, Duration time) implements Fault {}

  /** After so many events this text is sent, framed as an event or not, and the stream ended. */
  record InsertAfterEvents(int events, String text) implements Fault {

    /** An event with this error object, then {@code [DONE]}, as the recording proxy does it. */
    public static InsertAfterEvents errorFrame(int events, String errorObjectJson) {
      return new InsertAfterEvents(
          events, "data: {\"error\": " + errorObjectJson + "}\n\ndata: [DONE]\n\n");
    }
  }

  /** Everything but the usage. */
  record NoUsage() implements Fault {}

  /** Everything but the {@code [DONE]} event. */
  record NoDone() implements Fault {}

  /** Everything but the finish reason and what follows it, with {@code [DONE]} at the end. */
  record NoFinishReason() implements Fault {}
}
