package dev.blackbox.proxy;

import java.time.Duration;

/**
 * Tells an agent that waits for a streamed answer that its call goes on. Not before a while has
 * passed: once something is out, an error can have no status any more. For the call's own thread.
 */
final class LifeSigns {

  private static final Duration FOR_EVER = Duration.ofDays(365);

  private final Speech speech;
  private final AgentAnswer answer;
  private final ProxyConfig.KeepAlive keepAlive;
  private final long arrivedNanos = System.nanoTime();

  LifeSigns(Speech speech, AgentAnswer answer, ProxyConfig.KeepAlive keepAlive) {
    this.speech = speech;
    this.answer = answer;
    this.keepAlive = keepAlive;
  }

  /** How long the agent can still be left without a sign. */
  Duration patience() {
    if (!speech.stream()) {
      // A plain answer cannot be begun without its status.
      return FOR_EVER;
    }
    long now = System.nanoTime();
    Duration left =
        answer.begun()
            ? keepAlive.every().minusNanos(now - answer.lastWriteNanos())
            : keepAlive.after().minusNanos(now - arrivedNanos);
    return left.isNegative() ? Duration.ZERO : left;
  }

  /** Gives a sign, if it is time for one. */
  void give() throws VisitEndedException {
    if (!patience().isZero()) {
      return;
    }
    if (!answer.begun()) {
      answer.begin(200, AgentAnswer.LIVE_STREAM);
    }
    answer.write(speech.events().keepAlive());
  }
}
