package dev.blackbox.proxy;

import java.util.OptionalDouble;
import java.util.OptionalInt;

/**
 * What a registration may set about the proxy ({@code backend_options.proxy}); parsed with {@link
 * ProxyOptionsParser}.
 *
 * @param stickyHeaderName a further header that carries the session id
 * @param stepsMax model calls that a turn may make; empty: no limit
 * @param defaultTemperature put into requests that have none
 */
public record ProxyOptions(
    String stickyHeaderName, OptionalInt stepsMax, OptionalDouble defaultTemperature) {

  /** Reference server, section 2.3. */
  public static final ProxyOptions DEFAULTS =
      new ProxyOptions("X-SMG-Routing-Key", OptionalInt.of(100), OptionalDouble.empty());
}
