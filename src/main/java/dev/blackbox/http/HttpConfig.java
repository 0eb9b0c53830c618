package dev.blackbox.http;

import java.time.Duration;

/**
 * Address and bounds of the control door.
 *
 * @param host address to listen on
 * @param port to listen on; 0 lets the system choose one
 * @param bodyBytesMax largest request body; beyond it 413
 * @param bodiesBytesMax bytes of request bodies that are held at once, all requests together;
 *     beyond it 503
 * @param headerBytesMax largest request line, and largest block of headers; beyond it 414 or 400
 * @param connectionsMax open connections; further ones wait until one ends. Must stay below the
 *     process's limit of file descriptors: running out of those ends the listener for good
 * @param requestsMax requests in work at once, waiting ones included; beyond it 503. The health
 *     routes are not counted
 * @param longPollsMax of these, polls that wait for a turn; beyond it 503
 * @param waitSecondsMax longest wait of one poll; longer wishes are shortened to it. Source of the
 *     default: reference server, section 8.5
 * @param pageTurnsMax turns that one answer about a session tells of; longer wishes are shortened
 *     to it
 * @param requestReadTimeout from the first sign of a request to its last byte, head and body each;
 *     then the connection is closed without an answer
 * @param answerWriteTimeout for handing one piece of an answer to the client; then the connection
 *     is closed
 * @param idleTimeout how long a connection may be open without a request
 * @param shutdownGrace how long {@link HttpDoor#close} lets requests in work go on
 * @param access who may come in
 */
public record HttpConfig(
    String host,
    int port,
    long bodyBytesMax,
    long bodiesBytesMax,
    int headerBytesMax,
    int connectionsMax,
    int requestsMax,
    int longPollsMax,
    int waitSecondsMax,
    int pageTurnsMax,
    Duration requestReadTimeout,
    Duration answerWriteTimeout,
    Duration idleTimeout,
    Duration shutdownGrace,
    AccessRules access) {

  public static final HttpConfig DEFAULTS =
      new HttpConfig(
          "127.0.0.1",
          23456,
          32L << 20,
          128L << 20,
          32 << 10,
          1024,
          512,
          384,
          60,
          1000,
          Duration.ofSeconds(30),
          Duration.ofSeconds(60),
          Duration.ofMinutes(5),
          Duration.ofSeconds(3),
          AccessRules.LOCAL);

  public HttpConfig {
    if (port < 0 || port > 65_535) {
      throw new IllegalArgumentException("port must be 0 to 65535: " + port);
    }
    positive("bodyBytesMax", bodyBytesMax);
    positive("headerBytesMax", headerBytesMax);
    positive("longPollsMax", longPollsMax);
    positive("waitSecondsMax", waitSecondsMax);
    positive("pageTurnsMax", pageTurnsMax);
    if (bodyBytesMax > Integer.MAX_VALUE - 16) {
      throw new IllegalArgumentException("bodyBytesMax must be below 2 GiB: " + bodyBytesMax);
    }
    if (bodiesBytesMax < bodyBytesMax) {
      throw new IllegalArgumentException(
          "bodiesBytesMax " + bodiesBytesMax + " must not be below bodyBytesMax " + bodyBytesMax);
    }
    if (requestsMax <= longPollsMax || connectionsMax <= requestsMax) {
      throw new IllegalArgumentException(
          ("longPollsMax %d must be below requestsMax %d, and that below connectionsMax %d, so that"
                  + " waiting clients leave room for others")
              .formatted(longPollsMax, requestsMax, connectionsMax));
    }
    positive("requestReadTimeout", requestReadTimeout.toMillis());
    positive("answerWriteTimeout", answerWriteTimeout.toMillis());
    positive("idleTimeout", idleTimeout.toMillis());
  }

  /** The same bounds on another address. */
  public HttpConfig at(String otherHost, int otherPort) {
    return with(otherHost, otherPort, access);
  }

  /** The same for others. */
  public HttpConfig admitting(AccessRules others) {
    return with(host, port, others);
  }

  private HttpConfig with(String otherHost, int otherPort, AccessRules otherAccess) {
    return new HttpConfig(
        otherHost,
        otherPort,
        bodyBytesMax,
        bodiesBytesMax,
        headerBytesMax,
        connectionsMax,
        requestsMax,
        longPollsMax,
        waitSecondsMax,
        pageTurnsMax,
        requestReadTimeout,
        answerWriteTimeout,
        idleTimeout,
        shutdownGrace,
        otherAccess);
  }

  private static void positive(String name, long value) {
    if (value <= 0) {
      throw new IllegalArgumentException(name + " must be positive: " + value);
    }
  }
}
