package dev.blackbox.translate;

/** What an agent speaks. */
public enum Dialect {
  /** OpenAI chat completions, which engines speak too. */
  CHAT,
  /** Anthropic Messages. */
  ANTHROPIC,
  /** OpenAI Responses. */
  RESPONSES
}
