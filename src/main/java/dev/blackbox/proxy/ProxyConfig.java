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
 * @param totalTimeout from sending a call to the last byte of its answer, retries included; what
 *     keeps an agent's answer alive extends none of these
 * @param keepAlive how an agent with a streamed answer is told that it goes on
 * @param retries what the proxy tries again before the agent hears of it
 * @param agentRetries what is remembered of a turn's calls for an agent that sends one again
 * @param toolCallBytesMax most bytes of one answer's events with tool calls, which are held until
 *     it is whole; beyond it the answer is broken off
 * @param capture whether bodies are kept
 */
public record ProxyConfig(
    int port,
    long bodyBytesMax,
    long responseBytesMax,
    int concurrentCallsMax,
    Duration connectTimeout,
    Duration firstByteTimeout,
    Duration idleTimeout,
    Duration totalTimeout,
    KeepAlive keepAlive,
    Retries retries,
    AgentRetries agentRetries,
    long toolCallBytesMax,
    CaptureConfig capture) {

  /**
   * Signs of life for agents, which give up after five minutes of silence and more.
   *
   * @param after silence from a call's arrival on, after which a streamed answer is begun, so that
   *     later errors are events
   * @param every silence in a begun answer
   */
  public record KeepAlive(Duration after, Duration every) {}

  /**
   * Retries of calls that could not reach the engine, or were turned away with 429 or 5xx.
   *
   * @param max how many, after the first attempt
   * @param firstDelay before the first of them; doubles, and varies by a quarter
   * @param delayMax longest delay; an engine that asks for a longer one is not asked again
   */
  public record Retries(int max, Duration firstDelay, Duration delayMax) {}

  /**
   * Retries that agents make on their own.
   *
   * @param max how often one call may be sent again without counting as a further step
   * @param bytesMax memory of one turn for answers that may have to be told again; 0: none
   */
  public record AgentRetries(int max, long bytesMax) {

    public static final AgentRetries DEFAULTS = new AgentRetries(10, 4L << 20);
  }

  private static final long TOOL_CALL_BYTES_DEFAULT = 32L << 20;
  private static final Duration NEVER = Duration.ofDays(365);

  public static final ProxyConfig DEFAULTS =
      new ProxyConfig(
          0,
          64L << 20,
          64L << 20,
          1024,
          Duration.ofSeconds(10),
          Duration.ofMinutes(30),
          Duration.ofMinutes(10),
          Duration.ofHours(2),
          new KeepAlive(Duration.ofMinutes(2), Duration.ofSeconds(30)),
          new Retries(4, Duration.ofMillis(500), Duration.ofMinutes(1)),
          AgentRetries.DEFAULTS,
          TOOL_CALL_BYTES_DEFAULT,
          CaptureConfig.OFF);

  /** Bounds with the usual one for tool calls; no bodies are kept. */
  public ProxyConfig(
      int port,
      long bodyBytesMax,
      long responseBytesMax,
      int concurrentCallsMax,
      Duration connectTimeout,
      Duration firstByteTimeout,
      Duration idleTimeout,
      Duration totalTimeout,
      KeepAlive keepAlive,
      Retries retries,
      AgentRetries agentRetries) {
    this(
        port,
        bodyBytesMax,
        responseBytesMax,
        concurrentCallsMax,
        connectTimeout,
        firstByteTimeout,
        idleTimeout,
        totalTimeout,
        keepAlive,
        retries,
        agentRetries,
        TOOL_CALL_BYTES_DEFAULT,
        CaptureConfig.OFF);
  }

  /** Bounds without keep-alives and retries. */
  public ProxyConfig(
      int port,
      long bodyBytesMax,
      long responseBytesMax,
      int concurrentCallsMax,
      Duration connectTimeout,
      Duration firstByteTimeout,
      Duration idleTimeout) {
    this(
        port,
        bodyBytesMax,
        responseBytesMax,
        concurrentCallsMax,
        connectTimeout,
        firstByteTimeout,
        idleTimeout,
        NEVER,
        new KeepAlive(NEVER, NEVER),
        new Retries(0, Duration.ZERO, Duration.ZERO),
        AgentRetries.DEFAULTS);
  }

  /** The same bounds on another port. */
  public ProxyConfig withPort(int otherPort) {
    return with(otherPort, toolCallBytesMax, capture);
  }

  /** The same bounds with another one for tool calls. */
  public ProxyConfig withToolCallBytesMax(long bytes) {
    return with(port, bytes, capture);
  }

  /** The same bounds, and bodies are kept like this. */
  public ProxyConfig withCapture(CaptureConfig bodies) {
    return with(port, toolCallBytesMax, bodies);
  }

  private ProxyConfig with(int otherPort, long bytes, CaptureConfig bodies) {
    return new ProxyConfig(
        otherPort,
        bodyBytesMax,
        responseBytesMax,
        concurrentCallsMax,
        connectTimeout,
        firstByteTimeout,
        idleTimeout,
        totalTimeout,
        keepAlive,
        retries,
        agentRetries,
        bytes,
        bodies);
  }
}
