package dev.blackbox.proxy;

import dev.blackbox.translate.Dialect;
import dev.blackbox.upstream.UpstreamHead;
import dev.blackbox.wire.ChatProgress;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * One call as its agent speaks it: the question in the engine's words, and what the engine says, or
 * fails to say, in the agent's. Knows nothing of connections and turns. For one call only.
 */
sealed interface Speech permits ChatSpeech, TranslatedSpeech {

  Dialect dialect();

  /** The model asked for; empty if none was named. */
  String model();

  /** Text that the agent's last user message begins with; empty if that is not looked at. */
  String lastRequest();

  /** Text that the agent's system prompt begins with; empty if there is none. */
  String systemText();

  /** Whether the agent wants events. */
  boolean stream();

  /** Number of answers asked for at once. */
  int choices();

  /** The body for the engine. */
  byte[] question(OptionalDouble defaultTemperature);

  /** Asks for this many tokens at most from now on. */
  void lowerMaxTokens(long allowed);

  /**
   * A whole answer of the engine that is known to be a chat completion.
   *
   * @param answer what it says
   * @throws CallFailure if it cannot be told to this agent
   */
  Reply whole(UpstreamHead head, byte[] body, ChatProgress answer) throws CallFailure;

  /** A failure, for an agent whose answer was not begun. */
  Reply failure(CallFailure failure);

  /** What ends an agent without a fuss whose rollout is void; empty if a failure does it better. */
  Optional<Reply> quietEnd();

  /** The headers of an answer of events. */
  Map<String, String> streamHeaders(UpstreamHead head);

  /** The events of an answer. */
  StreamSpeech events();
}
