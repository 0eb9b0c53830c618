package dev.blackbox.http;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.kernel.Secret;
import java.net.InetAddress;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Lets a request in, or says why not; looks at its head only. */
final class Gate {

  private static final String ANY = "*";

  private static final String BEARER = "bearer ";

  /** Longest part of a refused host or origin that an answer repeats, in UTF-16 units. */
  private static final int ECHO_MAX = 64;

  private final AccessRules rules;
  private final String boundHost;

  /**
   * @param boundHost the address that the door listens on
   */
  Gate(AccessRules rules, String boundHost) {
    this.rules = rules;
    this.boundHost = bare(boundHost);
  }

  /**
   * Fails with {@code unauthorized}, {@code forbidden} or {@code misdirected_request}.
   *
   * @param authority the host that the request is for, as it came
   * @param cameInOn the address of this end of the connection
   * @param open true if the route asks for no token
   */
  void check(RequestHeaders headers, String authority, InetAddress cameInOn, boolean open) {
    if (rules.token().isEmpty()) {
      checkHost(authority, cameInOn);
      headers.first("origin").ifPresent(origin -> checkOrigin(origin, authority));
    } else if (!open) {
      checkToken(headers.all("authorization"), rules.token().get());
    }
  }

  /** RFC 6750, section 2.1. */
  private static void checkToken(List<String> authorizations, Secret token) {
    if (authorizations.isEmpty()) {
      throw unauthorized("This server asks for its API token, as \"Authorization: Bearer …\".");
    }
    String only = authorizations.size() == 1 ? authorizations.getFirst().strip() : "";
    if (!only.regionMatches(true, 0, BEARER, 0, BEARER.length())
        || !token.matches(only.substring(BEARER.length()).strip())) {
      throw unauthorized("The API token is wrong.");
    }
  }

  private static Problem unauthorized(String text) {
    return Problem.of(ErrorCode.UNAUTHORIZED, text, Map.of());
  }

  /**
   * A page from elsewhere whose name was made to point here (DNS rebinding) still sends that name.
   */
  private void checkHost(String authority, InetAddress cameInOn) {
    String host = bare(authority);
    boolean ours =
        host.equals("localhost")
            || host.equals(boundHost)
            || literal(host)
                .filter(address -> address.isLoopbackAddress() || address.equals(cameInOn))
                .isPresent()
            || rules.allowedHosts().contains(ANY)
            || rules.allowedHosts().stream().anyMatch(allowed -> bare(allowed).equals(host));
    if (!ours) {
      throw Problem.of(
          ErrorCode.MISDIRECTED_REQUEST,
          "This server is not \""
              + shortened(authority)
              + "\". Use its address, list the name in BBS_ALLOWED_HOSTS, or set an API token.",
          Map.of("host", shortened(authority)));
    }
  }

  private void checkOrigin(String origin, String authority) {
    boolean ours =
        origin.equalsIgnoreCase("http://" + authority)
            || rules.allowedOrigins().contains(ANY)
            || rules.allowedOrigins().stream().anyMatch(origin::equalsIgnoreCase);
    if (!ours) {
      throw Problem.of(
          ErrorCode.FORBIDDEN,
          "Pages of \""
              + shortened(origin)
              + "\" may not use this server. List it in BBS_ALLOWED_ORIGINS, or set an API token.",
          Map.of("origin", shortened(origin)));
    }
  }

  /** A name or address in lower case, without port, brackets and final dot. */
  private static String bare(String authority) {
    String host = authority.strip().toLowerCase(Locale.ROOT);
    if (host.startsWith("[")) {
      int end = host.indexOf(']');
      return end < 0 ? host : host.substring(1, end);
    }
    int colon = host.indexOf(':');
    if (colon >= 0 && colon == host.lastIndexOf(':')) {
      host = host.substring(0, colon);
    }
    return host.endsWith(".") ? host.substring(0, host.length() - 1) : host;
  }

  private static Optional<InetAddress> literal(String host) {
    try {
      return Optional.of(InetAddress.ofLiteral(host));
    } catch (IllegalArgumentException name) {
      return Optional.empty();
    }
  }

  private static String shortened(String text) {
    return text.length() <= ECHO_MAX ? text : text.substring(0, ECHO_MAX) + "…";
  }
}
