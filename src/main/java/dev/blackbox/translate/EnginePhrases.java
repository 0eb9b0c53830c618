package dev.blackbox.translate;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How engines say in words that a window is full. Most have no code for it. A sentence that gives
 * the prompt's length and the window's tells the two cases apart: the prompt alone is too long, or
 * it would fit with a smaller {@code max_tokens}.
 */
final class EnginePhrases {

  /**
   * What a sentence says.
   *
   * @param source whose sentence it is
   * @param details {@code context_window}, {@code input_tokens} and {@code max_tokens} as far as it
   *     gives them
   * @param maxTokensAllowed only if the prompt fits
   */
  record Reading(
      String source,
      ErrorClass errorClass,
      Map<String, @Nullable Object> details,
      OptionalLong maxTokensAllowed) {}

  /** At most 18 digits, which fit into a long; TensorRT-LLM writes a fraction. */
  private static final String NUMBER = "(\\d{1,18})(?:\\.\\d{1,9})?";

  /** Which number a group of a pattern is. */
  private enum Is {
    WINDOW("context_window"),
    INPUT("input_tokens"),
    ASKED("max_tokens"),
    ALLOWED("max_tokens_allowed");

    private final String field;

    Is(String field) {
      this.field = field;
    }
  }

  private record Row(String source, Pattern pattern, List<Is> numbers) {}

  private static final List<Row> TABLE =
      List.of(
          row(
              "OpenAI, old vLLM",
              "maximum context length is # tokens.{0,40}you requested \\d+ tokens"
                  + " \\(# in the messages,.{0,60}?# in the completion\\)",
              Is.WINDOW,
              Is.INPUT,
              Is.ASKED),
          row(
              "OpenAI",
              "maximum context length is # tokens.{0,40}your messages resulted in # tokens",
              Is.WINDOW,
              Is.INPUT),
          row("OpenAI", "input exceeds the context window"),
          row(
              "OpenAI",
              "max_(?:completion_)?tokens is too large: #. This model supports at most #"
                  + " completion tokens",
              Is.ASKED,
              Is.ALLOWED),
          row(
              "vLLM",
              "max_completion_tokens' is too large: #. This model's maximum context length is #"
                  + " tokens and your request has # input tokens",
              Is.ASKED,
              Is.WINDOW,
              Is.INPUT),
          row(
              "vLLM",
              "maximum context length is # tokens.{0,40}your request has # input tokens",
              Is.WINDOW,
              Is.INPUT),
          row(
              "vLLM",
              "You passed # input tokens and requested # output tokens.{0,60}context length is"
                  + " only # tokens",
              Is.INPUT,
              Is.ASKED,
              Is.WINDOW),
          row(
              "vLLM",
              "prompt \\(length #\\) is longer than the maximum model length of #",
              Is.INPUT,
              Is.WINDOW),
          row(
              "SGLang",
              "input \\(# tokens\\) is longer than the model's context length \\(# tokens\\)",
              Is.INPUT,
              Is.WINDOW),
          row(
              "SGLang",
              "maximum context length of # tokens.{0,60}: # tokens from the input messages and #"
                  + " tokens for the completion",
              Is.WINDOW,
              Is.INPUT,
              Is.ASKED),
          row(
              "SGLang",
              "Input length \\(# tokens\\) exceeds the maximum allowed length \\(# tokens\\)",
              Is.INPUT,
              Is.WINDOW),
          row(
              "llama.cpp",
              "request \\(# tokens\\) exceeds the available context size \\(# tokens\\)",
              Is.INPUT,
              Is.WINDOW),
          row("llama.cpp", "exceeds the available context size"),
          row(
              "TensorRT-LLM",
              "sum of prompt length \\(#\\), query length \\(\\d+\\) should not exceed"
                  + " max_num_tokens \\(#\\)",
              Is.INPUT,
              Is.WINDOW),
          row(
              "TensorRT-LLM",
              "must be greater than 0.{0,60}max_seq_len \\(#\\) - `splited_prompt_len` \\(#\\)",
              Is.WINDOW,
              Is.INPUT),
          row(
              "TensorRT-LLM",
              "Prompt length \\(#\\) exceeds maximum input length \\(#\\)",
              Is.INPUT,
              Is.WINDOW),
          row("Ollama", "prompt too long; exceeded (?:max )?context length"),
          row("Ollama", "input length exceeds (?:the )?(?:maximum )?context length"),
          row("Anthropic", "prompt is too long: # tokens > # maximum", Is.INPUT, Is.WINDOW),
          row("Anthropic", "prompt is too long"));

  private EnginePhrases() {}

  /** What an engine's error message says of windows, if it does. */
  static Optional<Reading> read(String message) {
    for (Row row : TABLE) {
      Matcher matcher = row.pattern().matcher(message);
      if (matcher.find()) {
        Map<Is, Long> numbers = new LinkedHashMap<>();
        for (int i = 0; i < row.numbers().size(); i++) {
          numbers.put(row.numbers().get(i), Long.parseLong(matcher.group(i + 1)));
        }
        return Optional.of(reading(row.source(), numbers));
      }
    }
    return Optional.empty();
  }

  private static Reading reading(String source, Map<Is, Long> numbers) {
    Map<String, @Nullable Object> details = new LinkedHashMap<>();
    numbers.forEach(
        (is, number) -> {
          if (is != Is.ALLOWED) {
            details.put(is.field, number);
          }
        });
    Long allowed = numbers.get(Is.ALLOWED);
    Long window = numbers.get(Is.WINDOW);
    Long input = numbers.get(Is.INPUT);
    boolean asksForOutput = numbers.containsKey(Is.ASKED);
    if (allowed == null && asksForOutput && window != null && input != null && input < window) {
      allowed = window - input;
    }
    return allowed == null
        ? new Reading(source, ErrorClass.CONTEXT_OVERFLOW, details, OptionalLong.empty())
        : new Reading(source, ErrorClass.OUTPUT_TOO_LONG, details, OptionalLong.of(allowed));
  }

  /** {@code #} stands for a number. */
  private static Row row(String source, String phrase, Is... numbers) {
    String pattern = phrase.replace("#", NUMBER);
    return new Row(source, Pattern.compile(pattern, Pattern.CASE_INSENSITIVE), List.of(numbers));
  }
}
