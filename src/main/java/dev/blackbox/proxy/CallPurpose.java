package dev.blackbox.proxy;

import io.helidon.http.HeaderNames;
import io.helidon.http.Headers;
import java.util.List;

/**
 * What a call is for, where the agent shows it: the main loop's calls are the ones that a turn is
 * made of. Source of the marks: runs of Claude Code 2.1.332 and Codex 0.171.0.
 */
final class CallPurpose {

  static final String MAIN = "main";
  static final String SUBAGENT = "subagent";
  static final String COMPACTION = "compaction";

  /** With what the two programs ask for a summary of their own conversation. */
  private static final List<String> COMPACTION_TEXTS =
      List.of(
          "CRITICAL: Respond with TEXT ONLY", "You are performing a CONTEXT CHECKPOINT COMPACTION");

  private CallPurpose() {}

  static String of(Headers agent, Speech speech) {
    if (agent.contains(HeaderNames.create("x-claude-code-agent-id"))) {
      return SUBAGENT;
    }
    String last = speech.lastRequest();
    return COMPACTION_TEXTS.stream().anyMatch(last::startsWith) ? COMPACTION : MAIN;
  }
}
