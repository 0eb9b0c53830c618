package dev.blackbox.kernel;

/**
 * One turn within a session: the key under which its answer is kept. At most 128 characters; see
 * {@link #parse}.
 */
public record TurnId(String value) {

  public TurnId {
    Identifiers.checked("turn_id", value);
  }

  /**
   * Reads an identifier, or fails with {@code request_error} (400) that repeats at most 256
   * characters of it.
   */
  public static TurnId parse(String value) {
    return new TurnId(value);
  }

  @Override
  public String toString() {
    return value;
  }
}
