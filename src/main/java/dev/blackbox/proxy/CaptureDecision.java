package dev.blackbox.proxy;

import java.util.Locale;

/**
 * What was decided about the bodies of a call when it ended. Whether their file is there is another
 * question, which only the directory can answer: it is written later, and deleted for room.
 */
public enum CaptureDecision {
  /** No bodies are kept at all. */
  OFF,
  /** Only those of calls that did not go well are, and it went well; or no request was sent. */
  NOT_WANTED,
  /** There was no memory, or too many calls waited to be written. */
  DROPPED,
  /** They were handed to the thread that writes them. */
  WANTED;

  /**
   * @throws IllegalArgumentException if there is none of this name
   */
  public static CaptureDecision ofWireName(String name) {
    return valueOf(name.toUpperCase(Locale.ROOT));
  }

  public String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
