package dev.blackbox.upstream;

import dev.blackbox.kernel.Resource;
import java.time.Duration;

/**
 * A client for engines: HTTP/1.1, pooled connections, no proxies, no redirects, no retries, no
 * cookies. Thread-safe.
 */
public interface Upstream extends Resource {

  /**
   * Makes a client with connections of its own.
   *
   * @param connectTimeout for making a connection
   */
  static Upstream create(Duration connectTimeout) {
    return new JdkUpstream(connectTimeout);
  }

  /**
   * Starts a call and returns at once; failures are told by the call.
   *
   * @throws IllegalArgumentException if the request cannot be put into HTTP
   */
  UpstreamCall begin(UpstreamRequest request);

  /** Ends calls that still run. */
  @Override
  void close();
}
