package dev.blackbox.proxy;

import java.time.Duration;

/**
 * Bounds of the model door.
 *
 * @param port to listen on at 127.0.0.1; 0 lets the system choose one
 * @param bodyBytesMax largest request body of an agent; beyond it 413
 * @param responseBytesMax largest plain (not streamed) answer of an engine, and largest single
 *     event of a streamed one; beyond it 502
 * @param concurrentCallsMax calls of all kinds at once; beyond it 503
 * @param connectTimeout for reaching the engine
 * @param firstByteTimeout from sending the request to the first byte of the answer
 * @param idleTimeout between two bytes of an answer; also how long an agent may take to send or
 *     take the next bytes
 */
public record ProxyConfig(
    int port,
    long bodyBytesMax,
    long responseBytesMax,
    int concurrentCallsMax,
    Duration connectTimeout,
    Duration firstByteTimeout,
    Duration idleTimeout) {

  public static final ProxyConfig DEFAULTS =
      new ProxyConfig(
          0,
          64L << 20,
          64L << 20,
          1024,
          Duration.ofSeconds(10),
          Duration.ofMinutes(30),
          Duration.ofMinutes(10));
}
