package dev.blackbox.kernel;

/**
 * The task instance that a session belongs to, as its controller names it. At most 128 characters;
 * see {@link #parse}.
 */
public record InstanceId(String value) {

  public InstanceId {
    Identifiers.checked("instance_id", value);
  }

  /**
   * Reads an identifier, or fails with {@code request_error} (400) that repeats at most 256
   * characters of it.
   */
  public static InstanceId parse(String value) {
    return new InstanceId(value);
  }

  @Override
  public String toString() {
    return value;
  }
}
