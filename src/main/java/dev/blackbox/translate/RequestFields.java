package dev.blackbox.translate;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The fields of a chat completion request that both dialects share. */
final class RequestFields {

  private static final Set<String> HIGH_EFFORTS = Set.of("high", "xhigh", "max");
  private static final Set<String> LOW_EFFORTS = Set.of("minimal", "low");

  private final TranslationOptions options;
  private final Map<String, @Nullable Object> chat;
  private final List<Map<String, @Nullable Object>> tools = new ArrayList<>();
  private final Set<String> toolNames = new HashSet<>();

  RequestFields(TranslationOptions options, Map<String, @Nullable Object> chat) {
    this.options = options;
    this.chat = chat;
  }

  void stream(boolean stream) {
    if (stream) {
      chat.put("stream", true);
      chat.put("stream_options", Map.of("include_usage", true));
    }
  }

  void maxTokens(OptionalLong asked) {
    if (asked.isPresent()) {
      long most =
          options.maxTokensMax().isPresent() ? options.maxTokensMax().getAsInt() : Long.MAX_VALUE;
      chat.put("max_tokens", Math.min(asked.getAsLong(), most));
    }
  }

  void number(Node request, String key) throws RequestRefusedException {
    Optional<Number> value = request.number(key);
    if (value.isPresent()) {
      chat.put(key, value.get());
    }
  }

  /** Efforts that engines do not know become the nearest one, and unknown ones are left out. */
  void effort(String effort) {
    if (!options.reasoningEffort()) {
      return;
    }
    if (HIGH_EFFORTS.contains(effort)) {
      chat.put("reasoning_effort", "high");
    } else if (effort.equals("medium")) {
      chat.put("reasoning_effort", "medium");
    } else if (LOW_EFFORTS.contains(effort)) {
      chat.put("reasoning_effort", "low");
    }
  }

  /** Answers must be JSON, of this schema. */
  void jsonSchema(String name, Object schema, boolean strict) {
    Map<String, @Nullable Object> inner = new LinkedHashMap<>();
    inner.put("name", name);
    inner.put("schema", schema);
    if (strict) {
      inner.put("strict", true);
    }
    Map<String, @Nullable Object> format = new LinkedHashMap<>();
    format.put("type", "json_schema");
    format.put("json_schema", inner);
    chat.put("response_format", format);
  }

  /**
   * Declares a function.
   *
   * @return false if the name is taken
   */
  boolean function(
      String name, Optional<String> description, @Nullable Object parameters, boolean strict) {
    if (!toolNames.add(name)) {
      return false;
    }
    Map<String, @Nullable Object> function = new LinkedHashMap<>();
    function.put("name", name);
    description.ifPresent(text -> function.put("description", text));
    // In this order always: an engine reuses what it knows of a prompt only while the bytes are the
    // same.
    Map<String, Object> none = new LinkedHashMap<>();
    none.put("type", "object");
    none.put("properties", Map.of());
    function.put("parameters", parameters == null ? none : parameters);
    if (strict) {
      function.put("strict", true);
    }
    Map<String, @Nullable Object> tool = new LinkedHashMap<>();
    tool.put("type", "function");
    tool.put("function", function);
    tools.add(tool);
    return true;
  }

  boolean declares(String name) {
    return toolNames.contains(name);
  }

  /** Leaves only these tools. */
  void keepTools(Set<String> names) {
    tools.removeIf(
        tool ->
            !(tool.get("function") instanceof Map<?, ?> function
                && names.contains(String.valueOf(function.get("name")))));
  }

  /**
   * Writes tools and what belongs to them. Engines refuse a choice and a parallel switch that come
   * without tools, so the harmless ones are left out then.
   *
   * @param choice a word or an object of chat completions, or null
   */
  void tools(@Nullable Object choice, Optional<Boolean> parallel) {
    if (!tools.isEmpty()) {
      chat.put("tools", tools);
    }
    boolean harmless = "auto".equals(choice) || "none".equals(choice);
    if (choice != null && !(tools.isEmpty() && harmless)) {
      chat.put("tool_choice", choice);
    }
    if (!tools.isEmpty()) {
      if (options.singleToolCalls()) {
        chat.put("parallel_tool_calls", false);
      } else {
        parallel.ifPresent(value -> chat.put("parallel_tool_calls", value));
      }
    }
  }

  static Map<String, @Nullable Object> choiceOf(String name) {
    Map<String, @Nullable Object> choice = new LinkedHashMap<>();
    choice.put("type", "function");
    choice.put("function", Map.of("name", name));
    return choice;
  }
}
