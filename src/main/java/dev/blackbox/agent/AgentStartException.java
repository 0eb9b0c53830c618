package dev.blackbox.agent;

import org.jspecify.annotations.Nullable;

/**
 * An agent could not be started. The message is told to the caller: what failed, with the last
 * lines of its errors.
 */
public final class AgentStartException extends Exception {

  public AgentStartException(String message, @Nullable Throwable cause) {
    super(message, cause);
  }
}
