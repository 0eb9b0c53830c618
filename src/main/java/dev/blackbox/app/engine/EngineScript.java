package dev.blackbox.app.engine;

import java.util.List;

/**
 * What a scripted engine says. A call is answered by what it holds, not by how many came before:
 * the last user message chooses the conversation, and the number of assistant messages after it
 * chooses the step. So replays, retries, several turns and parallel sessions work by themselves.
 *
 * @param conversations the first that matches counts
 * @param otherwise for calls that no conversation matches
 */
public record EngineScript(List<Conversation> conversations, List<Step> otherwise) {

  /**
   * The steps that follow one user message. Calls beyond the last step get the last step again.
   *
   * @param contains matches if the last user message contains this text
   */
  public record Conversation(String contains, List<Step> steps) {
    public Conversation {
      steps = atLeastOne(steps);
    }
  }

  public EngineScript {
    conversations = List.copyOf(conversations);
    otherwise = atLeastOne(otherwise);
  }

  /** Says these steps to every user message. */
  public static EngineScript always(Step... steps) {
    return new EngineScript(List.of(), List.of(steps));
  }

  /**
   * Reads a script in the JSON format of {@code docs/engine.md}.
   *
   * @throws IllegalArgumentException that says what is wrong, and where
   */
  public static EngineScript parse(String json) {
    return new EngineScriptReader().read(json);
  }

  List<Step> stepsFor(String lastUserText) {
    for (Conversation conversation : conversations) {
      if (lastUserText.contains(conversation.contains())) {
        return conversation.steps();
      }
    }
    return otherwise;
  }

  private static List<Step> atLeastOne(List<Step> steps) {
    if (steps.isEmpty()) {
      throw new IllegalArgumentException("a conversation needs at least one step");
    }
    return List.copyOf(steps);
  }
}
