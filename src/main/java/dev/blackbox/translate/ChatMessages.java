package dev.blackbox.translate;

import dev.blackbox.translate.TranslationOptions.SystemPlacement;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The messages of one chat completion request in the making. */
final class ChatMessages {

  /** What a result begins with whose tool failed; chat completions have no field for it. */
  static final String FAILED_TOOL = "ERROR: ";

  private final TranslationOptions options;
  private final List<Map<String, @Nullable Object>> messages = new ArrayList<>();
  private final List<String> systemTexts = new ArrayList<>();
  private final Set<String> callIds = new HashSet<>();
  private final Deque<String> unansweredCallIds = new ArrayDeque<>();
  private @Nullable Map<String, @Nullable Object> openAssistant;

  ChatMessages(TranslationOptions options) {
    this.options = options;
  }

  void system(String text) {
    openAssistant = null;
    if (text.isEmpty()) {
      return;
    }
    if (messages.isEmpty() || options.system() == SystemPlacement.HOIST) {
      systemTexts.add(text);
    } else {
      messages.add(message("system", text));
    }
  }

  /** Nothing is added for empty content. */
  void user(ContentParts content) {
    openAssistant = null;
    if (!content.isEmpty()) {
      messages.add(message("user", content.content()));
    }
  }

  /** Begins a message of the assistant; without text, reasoning or refusal there is none yet. */
  void assistant(ContentParts content, String reasoning, String refusal) {
    openAssistant = null;
    boolean keepReasoning = options.reasoningHistory() && !reasoning.isEmpty();
    if (content.isEmpty() && refusal.isEmpty() && !keepReasoning) {
      return;
    }
    Map<String, @Nullable Object> message = message("assistant", content.content());
    if (keepReasoning) {
      message.put("reasoning_content", reasoning);
    }
    if (!refusal.isEmpty()) {
      message.put("refusal", refusal);
    }
    messages.add(message);
    openAssistant = message;
  }

  boolean assistantIsOpen() {
    return openAssistant != null;
  }

  void closeAssistant() {
    openAssistant = null;
  }

  /**
   * Adds a call to the open message of the assistant, or to a new one.
   *
   * @param id an empty one is made up, the same for the same conversation
   * @return false if a call before has this id
   */
  boolean call(String id, String name, String arguments) {
    String callId = id.isEmpty() ? madeUpId() : id;
    if (!callIds.add(callId)) {
      return false;
    }
    unansweredCallIds.add(callId);
    Map<String, @Nullable Object> function = new LinkedHashMap<>();
    function.put("name", name);
    function.put("arguments", arguments);
    Map<String, @Nullable Object> call = new LinkedHashMap<>();
    call.put("id", callId);
    call.put("type", "function");
    call.put("function", function);
    Map<String, @Nullable Object> message = openAssistant;
    if (message == null) {
      message = message("assistant", null);
      messages.add(message);
      openAssistant = message;
    }
    if ("".equals(message.get("content"))) {
      message.put("content", null);
    }
    calls(message).add(call);
    return true;
  }

  /**
   * Adds the result of a call.
   *
   * @param id an empty one means the oldest call without a result
   * @return false if there is no such call
   */
  boolean result(String id, Object content) {
    openAssistant = null;
    String callId = id.isEmpty() ? unansweredCallIds.peek() : id;
    if (callId == null) {
      return false;
    }
    unansweredCallIds.remove(callId);
    Map<String, @Nullable Object> message = new LinkedHashMap<>();
    message.put("role", "tool");
    message.put("tool_call_id", callId);
    message.put("content", content);
    messages.add(message);
    return true;
  }

  Set<String> callIds() {
    return callIds;
  }

  /** All messages, the system message first. */
  List<Map<String, @Nullable Object>> all() {
    if (systemTexts.isEmpty()) {
      return messages;
    }
    List<Map<String, @Nullable Object>> all = new ArrayList<>();
    all.add(message("system", String.join("\n\n", systemTexts)));
    all.addAll(messages);
    return all;
  }

  private String madeUpId() {
    int number = callIds.size();
    while (callIds.contains("call_" + number)) {
      number++;
    }
    return "call_" + number;
  }

  @SuppressWarnings("unchecked") // only this class fills the field
  private static List<Object> calls(Map<String, @Nullable Object> message) {
    return Optional.ofNullable((List<Object>) message.get("tool_calls"))
        .orElseGet(
            () -> {
              List<Object> calls = new ArrayList<>();
              message.put("tool_calls", calls);
              return calls;
            });
  }

  private static Map<String, @Nullable Object> message(String role, @Nullable Object content) {
    Map<String, @Nullable Object> message = new LinkedHashMap<>();
    message.put("role", role);
    message.put("content", content);
    return message;
  }
}
