package dev.blackbox.proxy;

import java.util.Optional;

/** How the agent of a void rollout is told. */
final class QuietEnd {

  private QuietEnd() {}

  /**
   * The agent of a void rollout is to stop without a fuss: nobody wants what it would do next.
   *
   * @return false if it stops only when it is told of a failure; nothing was sent then
   */
  static boolean say(Speech speech, AgentAnswer answer) throws VisitEndedException {
    if (!speech.stream()) {
      Optional<Reply> empty = speech.quietEnd();
      if (empty.isPresent()) {
        answer.whole(empty.get());
      }
      return empty.isPresent();
    }
    Optional<byte[]> last = speech.events().quietEnd();
    if (last.isPresent()) {
      if (!answer.begun()) {
        answer.begin(200, AgentAnswer.EVENT_STREAM);
      }
      answer.write(last.get());
      answer.end();
    }
    return last.isPresent();
  }
}
