package dev.blackbox.http;

import dev.blackbox.kernel.Secret;
import java.util.Optional;
import java.util.Set;

/**
 * Who may use the control door. With a token, who has it; the rest then does not matter. Without
 * one, whoever reaches the port by a name that is this server's, which keeps out the web pages that
 * a browser on this machine shows.
 *
 * @param token that every request but those for health must bear
 * @param allowedHosts names or addresses, without a port, that a request's {@code Host} may have
 *     beside those of the loopback and of the address that it came in on; {@code *} is any
 * @param allowedOrigins that a request's {@code Origin} may have beside the server's own, each as
 *     {@code http://name:port}; {@code *} is any
 */
public record AccessRules(
    Optional<Secret> token, Set<String> allowedHosts, Set<String> allowedOrigins) {

  /** No token, and only this server's own names. */
  public static final AccessRules LOCAL = new AccessRules(Optional.empty(), Set.of(), Set.of());

  public AccessRules {
    allowedHosts = Set.copyOf(allowedHosts);
    allowedOrigins = Set.copyOf(allowedOrigins);
  }
}
