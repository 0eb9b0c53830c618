package dev.blackbox.agent;

import dev.blackbox.wire.Json;
import dev.blackbox.wire.Message;
import dev.blackbox.wire.Message.ToolCall;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The conversation of one turn, step by step: a step is what one model call answered, with the
 * results of the tools that it called. Texts are bounded, each and all together.
 */
public final class CliOutputs {

  /** Longest text of one part of a message. */
  private static final int TEXT_MAX = 4 << 20;

  /** All texts of a turn together, in characters. */
  private static final int TEXTS_MAX = 16 << 20;

  private final List<Step> steps = new ArrayList<>();
  private final Map<String, Step> byCall = new LinkedHashMap<>();
  private int charactersLeft = TEXTS_MAX;
  private int callsMade;

  /** What one model call answered. */
  public final class Step {
    private final @Nullable String name;
    private final List<String> texts = new ArrayList<>();
    private final List<String> reasonings = new ArrayList<>();
    private final Map<String, ToolCall> calls = new LinkedHashMap<>();
    private final Map<String, Message> results = new LinkedHashMap<>();

    private Step(@Nullable String name) {
      this.name = name;
    }

    public void text(String text) {
      texts.add(bounded(text));
    }

    public void reasoning(String text) {
      reasonings.add(bounded(text));
    }

    /** A tool call; a second one with the same id is the same call. */
    public void call(String id, String tool, String arguments) {
      if (!calls.containsKey(id)) {
        calls.put(id, ToolCall.function(id, tool, bounded(arguments)));
        byCall.put(id, this);
        callsMade++;
      }
    }

    public boolean hasCalls() {
      return !calls.isEmpty();
    }

    /** Whether a tool is still at work. */
    public boolean hasOpenCalls() {
      return !results.keySet().containsAll(calls.keySet());
    }

    private void addTo(List<Message> messages) {
      String content = texts.isEmpty() ? null : String.join("\n", texts);
      String reasoning = reasonings.isEmpty() ? null : String.join("\n", reasonings);
      List<ToolCall> made = calls.isEmpty() ? null : List.copyOf(calls.values());
      if (content != null || reasoning != null || made != null) {
        messages.add(new Message("assistant", content, reasoning, made, null, name));
      }
      for (String id : calls.keySet()) {
        Message result = results.get(id);
        if (result != null) {
          messages.add(result);
        }
      }
    }
  }

  /**
   * Begins a step.
   *
   * @param name who speaks, if it is not the agent itself but a helper of its; may be null
   */
  public Step begin(@Nullable String name) {
    Step step = new Step(name);
    steps.add(step);
    return step;
  }

  /** The step that was begun last. */
  public Optional<Step> last() {
    return steps.isEmpty() ? Optional.empty() : Optional.of(steps.getLast());
  }

  /** What a tool answered. Passed over if nobody called it. */
  public void result(String callId, String content) {
    Step step = byCall.get(callId);
    ToolCall call = step == null ? null : step.calls.get(callId);
    if (step != null && call != null) {
      step.results.put(callId, Message.tool(callId, call.function().name(), bounded(content)));
    }
  }

  /** Whether a call of this id was made. */
  public boolean knows(String callId) {
    return byCall.containsKey(callId);
  }

  public int steps() {
    return steps.size();
  }

  public int calls() {
    return callsMade;
  }

  /** All messages, oldest first; those that would be empty are left out. */
  public List<Message> messages() {
    List<Message> messages = new ArrayList<>();
    steps.forEach(step -> step.addTo(messages));
    return messages;
  }

  public String json() {
    return Json.write(messages());
  }

  private String bounded(String text) {
    String kept = Texts.cut(text, Math.min(TEXT_MAX, charactersLeft));
    charactersLeft = Math.max(0, charactersLeft - kept.length());
    return kept;
  }
}
