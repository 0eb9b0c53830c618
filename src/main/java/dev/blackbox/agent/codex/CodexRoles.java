package dev.blackbox.agent.codex;

import dev.blackbox.agent.codex.CodexOptions.Role;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The files that tell Codex of its sub-agents. Source: reference server, section 6.2. */
final class CodexRoles {

  /** The role of sub-agents that are started without one. */
  static final String DEFAULT = "default";

  private CodexRoles() {}

  static Role defaultRole() {
    return new Role(
        "Default subagent that executes only the task handed to it by its parent.",
        Optional.empty(),
        List.of());
  }

  static String file(String name, Role role) {
    Map<String, Object> keys = new LinkedHashMap<>();
    keys.put("name", name);
    keys.put("description", role.description());
    keys.put(
        "developer_instructions", role.instructions().orElseGet(() -> defaultInstructions(name)));
    if (!role.nicknameCandidates().isEmpty()) {
      keys.put("nickname_candidates", role.nicknameCandidates());
    }
    return new Toml()
        .keys(keys)
        .table("features.multi_agent_v2", Map.of("enabled", false))
        .toString();
  }

  /** Keeps a sub-agent from starting more of them and from repeating its parent's work. */
  private static String defaultInstructions(String name) {
    return String.join(
        "\n",
        "You work as the subagent in the role " + name + ".",
        "Follow only the parent NEW_TASK payload: it is your whole assignment.",
        "Ignore inherited root-session prompts; they were meant for your parent.",
        "Do not call spawn_agent, wait_agent, followup_task, send_message, list_agents or"
            + " interrupt_agent, and start no further subagents.",
        "Do the work yourself with the tools that you have; delegate nothing.",
        "Do not return TOOL_UNAVAILABLE: when a tool is missing, use another way.",
        "Finish with a short final result for your parent.");
  }
}
