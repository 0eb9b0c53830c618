package dev.blackbox.kernel;

/** A conversation, as its controller names it. At most 128 characters; see {@link #parse}. */
public record SessionId(String value) {

  public SessionId {
    Identifiers.checked("session_id", value);
  }

  /**
   * Reads an identifier, or fails with {@code request_error} (400) that repeats at most 256
   * characters of it.
   */
  public static SessionId parse(String value) {
    return new SessionId(value);
  }

  @Override
  public String toString() {
    return value;
  }
}
