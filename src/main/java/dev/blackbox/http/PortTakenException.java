package dev.blackbox.http;

import org.jspecify.annotations.Nullable;

/**
 * The door cannot listen on its address: another process has the port, or the address is not ours
 * to use. The message is one line for an operator.
 */
public final class PortTakenException extends Exception {

  PortTakenException(String host, int port, String reason, @Nullable Throwable cause) {
    super(
        "cannot listen on "
            + host
            + ":"
            + port
            + ": "
            + reason
            + "; end what uses it, or choose another port",
        cause);
  }
}
