package dev.blackbox.translate;

/**
 * A request that cannot be said in chat completions without losing or inventing something, or that
 * is no request at all. The agent gets 400 in its dialect ({@link DialectErrors}); it is its own
 * mistake, and a retry would not help.
 */
public final class RequestRefusedException extends Exception {

  private final String where;

  RequestRefusedException(String where, String message) {
    super(message, null, false, false);
    this.where = where;
  }

  /** The place in the request, such as {@code messages.3.content.0.type}. */
  public String where() {
    return where;
  }

  /** What was wrong and where; never repeats prompts. */
  public String text() {
    return where.isEmpty() ? String.valueOf(getMessage()) : where + ": " + getMessage();
  }
}
