package dev.blackbox.proxy;

import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.Headers;
import java.util.List;
import java.util.Optional;

/**
 * What a call is for, where the agent shows it: the main loop's calls are the ones that a turn is
 * made of. The marks are those of Claude Code 2.1.332, Codex 0.171.0 and opencode 1.18.33, seen in
 * their requests or read in the programs; docs/agents.md lists them. What nobody marks is main.
 */
final class CallPurpose {

  static final String MAIN = "main";
  static final String SUBAGENT = "subagent";
  static final String COMPACTION = "compaction";
  static final String TITLE = "title";

  /**
   * A header that only calls of this purpose have.
   *
   * @param value that it must have; empty: any
   */
  private record HeaderMark(HeaderName header, Optional<String> value, String purpose) {

    static HeaderMark any(String name, String purpose) {
      return new HeaderMark(HeaderNames.create(name), Optional.empty(), purpose);
    }

    boolean isOn(Headers headers) {
      Optional<String> given = headers.first(header);
      return given.isPresent() && (value.isEmpty() || value.equals(given));
    }
  }

  /** What a text begins with. */
  private record TextMark(String beginning, String purpose) {}

  /** The first that fits counts. */
  private static final List<HeaderMark> HEADERS =
      List.of(
          // Codex: kind of the sub-agent, one of which makes summaries.
          new HeaderMark(
              HeaderNames.create("x-openai-subagent"), Optional.of("compact"), COMPACTION),
          HeaderMark.any("x-openai-subagent", SUBAGENT),
          HeaderMark.any("x-codex-parent-thread-id", SUBAGENT),
          // Claude Code.
          HeaderMark.any("x-claude-code-agent-id", SUBAGENT),
          // opencode: sessions that a task of another one began.
          HeaderMark.any("x-parent-session-id", SUBAGENT));

  /** Of the system text. */
  private static final List<TextMark> SYSTEM_TEXTS =
      List.of(
          // opencode: its agents "title" and "compaction".
          new TextMark("You are a title generator.", TITLE),
          new TextMark("You are a context summarization agent.", COMPACTION));

  /** Of the last user message. */
  private static final List<TextMark> LAST_REQUESTS =
      List.of(
          // Claude Code.
          new TextMark("CRITICAL: Respond with TEXT ONLY", COMPACTION),
          // Codex.
          new TextMark("You are performing a CONTEXT CHECKPOINT COMPACTION", COMPACTION));

  private CallPurpose() {}

  static String of(Headers agent, Speech speech) {
    return HEADERS.stream()
        .filter(mark -> mark.isOn(agent))
        .findFirst()
        .map(HeaderMark::purpose)
        .or(() -> find(SYSTEM_TEXTS, speech.systemText()))
        .or(() -> find(LAST_REQUESTS, speech.lastRequest()))
        .orElse(MAIN);
  }

  private static Optional<String> find(List<TextMark> marks, String text) {
    return marks.stream()
        .filter(mark -> text.startsWith(mark.beginning()))
        .findFirst()
        .map(TextMark::purpose);
  }
}
