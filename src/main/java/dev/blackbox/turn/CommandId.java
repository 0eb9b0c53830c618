package dev.blackbox.turn;

import dev.blackbox.kernel.Identifiers;

/**
 * One shell command within a session: the key under which its result is kept. At most 128
 * characters; see {@link #parse}.
 */
public record CommandId(String value) {

  public CommandId {
    Identifiers.checked("command_id", value);
  }

  /**
   * Reads an identifier, or fails with {@code request_error} (400) that repeats at most 64
   * characters of it.
   */
  public static CommandId parse(String value) {
    return new CommandId(value);
  }

  @Override
  public String toString() {
    return value;
  }
}
