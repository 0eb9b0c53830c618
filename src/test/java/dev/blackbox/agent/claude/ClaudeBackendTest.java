package dev.blackbox.agent.claude;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.agent.Agent;
import dev.blackbox.agent.AgentFixture;
import dev.blackbox.agent.AgentResult;
import dev.blackbox.agent.Backend;
import dev.blackbox.agent.StandIn;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Options, files, environment and arguments. */
class ClaudeBackendTest {

  @TempDir Path directory;
  @TempDir Path programs;

  private ClaudeRig rig;

  @BeforeEach
  void open() throws Exception {
    rig = new ClaudeRig(directory, programs);
    rig.standIn.does(StandIn.print(ClaudeRig.INIT, ClaudeRig.ANSWER, ClaudeRig.RESULT));
  }

  @AfterEach
  void nothingIsLeft() {
    rig.close();
  }

  @Test
  void filesAreThoseOfTheReference() throws Exception {
    try (Agent _ = rig.start(Map.of(), Optional.of("be brief"), Optional.empty())) {
      assertThat(directory.resolve("home/.claude/settings.json"))
          .hasContent(
              """
              {
                "autoCompactEnabled": true,
                "permissions": {
                  "allow": [
                    "Bash(*)",
                    "Read(*)",
                    "Edit(*)",
                    "Write(*)",
                    "WebSearch",
                    "WebFetch",
                    "Glob",
                    "Grep",
                    "LS",
                    "NotebookRead",
                    "NotebookEdit",
                    "TodoWrite",
                    "Task"
                  ],
                  "deny": [
                    "Agent"
                  ]
                },
                "env": {
                  "DISABLE_PROMPT_CACHING": "1",
                  "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"
                }
              }\
              """);
      assertThat(directory.resolve("run/claude_code.settings"))
          .hasContent(directory.resolve("home/.claude/settings.json").toString());
      assertThat(directory.resolve("run/proxy.port")).hasContent("4321");
      assertThat(directory.resolve("prompts/system.txt")).hasContent("be brief");
      assertThat(directory.resolve("workspace/CLAUDE.md")).doesNotExist();
      for (String part : List.of("home/.claude", "workspace", "logs", "run", "tmp", "prompts")) {
        assertThat(mode(directory.resolve(part))).isEqualTo("rwx------");
      }
      assertThat(mode(directory.resolve("home/.claude/settings.json"))).isEqualTo("rw-------");
    }
  }

  @Test
  void switchesFollowTheOptions() throws Exception {
    Map<String, Object> options =
        Map.of(
            "thinking", Map.of("enabled", false, "interleaved", "no", "budget_tokens", 5),
            "compaction", Map.of("auto", false, "auto_compact_pct_override", 80),
            "compat", Map.of("disable_prompt_caching", false, "disable_nonessential_traffic", 0),
            "subagents", Map.of("enabled", true));
    try (Agent _ = rig.start(options)) {
      assertThat(Files.readString(directory.resolve("home/.claude/settings.json")))
          .contains("\"autoCompactEnabled\": false", "\"deny\": []")
          .contains(
              """
                "env": {
                  "CLAUDE_CODE_DISABLE_THINKING": "1",
                  "MAX_THINKING_TOKENS": "0",
                  "DISABLE_INTERLEAVED_THINKING": "1",
                  "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "80"
                }
              """);
    }
    try (Agent _ = rig.start(Map.of("thinking", Map.of("budget_tokens", "2000")))) {
      assertThat(Files.readString(directory.resolve("home/.claude/settings.json")))
          .contains("\"MAX_THINKING_TOKENS\": \"2000\"")
          .doesNotContain("DISABLE_THINKING");
    }
  }

  @Test
  void theFirstTurnBeginsTheSessionAndTheNextGoesOnWithIt() throws Exception {
    try (Agent agent = rig.start(Map.of("max_turns", 3, "model", Map.of("id", "m-1")))) {
      answered(agent);
      answered(agent);
    }
    List<String> common =
        List.of(
            "-p",
            "--output-format",
            "stream-json",
            "--verbose",
            "--model",
            "m-1",
            "--max-turns",
            "3",
            "--permission-mode",
            "default",
            "--settings",
            directory.resolve("home/.claude/settings.json").toString(),
            "--setting-sources",
            "user");
    assertThat(rig.standIn.arguments(1)).isEqualTo(with(common, "--session-id"));
    assertThat(rig.standIn.arguments(2)).isEqualTo(with(common, "--resume"));
    assertThat(rig.standIn.input(1)).isEqualTo("--help");
    assertThat(rig.fixture.backendSessions).containsExactly(ClaudeRig.SESSION, ClaudeRig.SESSION);
  }

  private static List<String> with(List<String> common, String session) {
    List<String> all = new ArrayList<>(common);
    all.add(session);
    all.add(ClaudeRig.SESSION);
    return all;
  }

  @Test
  void theSystemPromptIsAFile() throws Exception {
    String file = directory.resolve("prompts/system.txt").toString();
    Optional<String> prompt = Optional.of("be brief");
    for (String mode : List.of("append", "replace", "claude_md", "none")) {
      try (Agent agent = rig.start(Map.of("system_prompt_mode", mode), prompt, Optional.empty())) {
        Files.writeString(directory.resolve("prompts/system.txt"), "changed by the agent");
        answered(agent);
        assertThat(directory.resolve("prompts/system.txt")).hasContent("be brief");
      }
    }
    assertThat(rig.standIn.arguments(1)).endsWith("--append-system-prompt-file", file);
    assertThat(rig.standIn.arguments(2)).endsWith("--system-prompt-file", file);
    assertThat(rig.standIn.arguments(3)).doesNotContain(file);
    assertThat(rig.standIn.arguments(4)).doesNotContain(file);
    assertThat(directory.resolve("workspace/CLAUDE.md")).hasContent("be brief");
  }

  @Test
  void theEnvironmentIsByAllowList() throws Exception {
    try (Agent agent = rig.start(Map.of("gateway", Map.of("auth_token", "not this one")))) {
      answered(agent);
    }
    assertThat(rig.standIn.environment(1))
        .containsEntry("HOME", directory.resolve("home").toString())
        .containsEntry("CLAUDE_CONFIG_DIR", directory.resolve("home/.claude").toString())
        .containsEntry("CLAUDE_CODE_TMPDIR", directory.resolve("tmp").toString())
        .containsEntry("TMPDIR", directory.resolve("tmp").toString())
        .containsEntry("ANTHROPIC_BASE_URL", "http://127.0.0.1:4321")
        .containsEntry("ANTHROPIC_AUTH_TOKEN", AgentFixture.MODEL_KEY)
        .containsEntry("ANTHROPIC_CUSTOM_MODEL_OPTION", "proxy-model")
        .containsEntry("ANTHROPIC_CUSTOM_MODEL_OPTION_NAME", "Dressage Proxy")
        .containsEntry(
            "ANTHROPIC_CUSTOM_MODEL_OPTION_SUPPORTED_CAPABILITIES",
            "thinking,adaptive_thinking,interleaved_thinking")
        .containsEntry("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
        .containsEntry("DISABLE_AUTOUPDATER", "1")
        .containsEntry("API_TIMEOUT_MS", "600000")
        .containsEntry("PATH", StandIn.PATH)
        .doesNotContainKeys("ANTHROPIC_API_KEY", "HTTPS_PROXY", "CLAUDE_CODE_BIN");
  }

  @Test
  void theKeyIsInNoFile() throws Exception {
    try (Agent agent = rig.start(Map.of())) {
      answered(agent);
    }
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        assertThat(Files.readString(file)).doesNotContain(AgentFixture.MODEL_KEY);
      }
    }
  }

  @Test
  void theWorkingDirectoryCanBeChosen(@TempDir Path elsewhere) throws Exception {
    Map<String, Object> options =
        Map.of("working_directory", elsewhere.toString(), "system_prompt_mode", "claude_md");
    try (Agent agent = rig.start(options, Optional.of("be brief"), Optional.empty())) {
      answered(agent);
    }
    assertThat(rig.standIn.workedIn(1)).isEqualTo(elsewhere);
    assertThat(elsewhere.resolve("CLAUDE.md")).hasContent("be brief");
  }

  static Stream<Arguments> faults() {
    return Stream.of(
        Arguments.of(Map.of("max_turns", 0), "max_turns: must be at least 1"),
        Arguments.of(Map.of("max_turns", 5.5), "max_turns"),
        Arguments.of(Collections.singletonMap("max_turns", null), "max_turns"),
        Arguments.of(Map.of("permission_mode", "yolo"), "permission_mode: must be one of acceptE"),
        Arguments.of(Map.of("permission_mode", 1), "permission_mode: must be a string"),
        Arguments.of(Map.of("system_prompt_mode", "both"), "system_prompt_mode"),
        Arguments.of(Map.of("model", Map.of("id", "")), "model.id: must have at least 1 char"),
        Arguments.of(Map.of("model", Map.of("id", "a\0b")), "model.id: must hold no NUL"),
        Arguments.of(Map.of("model", "m"), "model: must be an object"),
        Arguments.of(Collections.singletonMap("model", null), "model: must be an object"),
        Arguments.of(Map.of("model", Map.of("supported_capabilities", List.of(1))), "model.sup"),
        Arguments.of(Map.of("model", Map.of("supported_capabilities", "x")), "list of strings"),
        Arguments.of(Map.of("thinking", Map.of("budget_tokens", 0)), "thinking.budget_tokens"),
        Arguments.of(Map.of("thinking", Map.of("mode", "x")), "thinking.mode: unexpected"),
        Arguments.of(
            Map.of("compaction", Map.of("auto_compact_pct_override", 101)),
            "compaction.auto_compact_pct_override: must be at most 100, is 101"),
        Arguments.of(Map.of("subagents", Map.of("enabled", "maybe")), "subagents.enabled"),
        Arguments.of(Map.of("working_directory", "/no/such/place"), "working_directory"),
        Arguments.of(Map.of("endpoint", "x"), "endpoint: unexpected"));
  }

  @ParameterizedTest
  @MethodSource("faults")
  void badOptionsAreRefusedBeforeAnythingStarts(Map<String, Object> options, String told) {
    assertThatThrownBy(() -> rig.backend().plan(options))
        .isInstanceOfSatisfying(
            Problem.class, problem -> assertThat(problem.code()).isEqualTo(ErrorCode.REQUEST_ERROR))
        .hasMessageStartingWith("Invalid claude_code backend_options: ")
        .hasMessageContaining(told);
    assertThat(rig.fixture.started).isEmpty();
  }

  @Test
  void rootMayNotBypassPermissions() {
    Map<String, Object> options = Map.of("permission_mode", "bypassPermissions");
    Map<String, String> environment =
        Map.of("CLAUDE_CODE_BIN", rig.standIn.program().toString(), "PATH", StandIn.PATH);
    ClaudeBackend asRoot =
        new ClaudeBackend(environment, rig.fixture.processes, ClaudeRig.LIMITS, () -> true);

    assertThatThrownBy(() -> asRoot.plan(options))
        .isInstanceOfSatisfying(
            Problem.class, problem -> assertThat(problem.code()).isEqualTo(ErrorCode.REQUEST_ERROR))
        .hasMessageContaining("cannot run as root");
    assertThat(asRoot.plan(Map.of("permission_mode", "default")).identity()).isNotEmpty();
    assertThat(rig.backend().plan(options).identity()).isNotEmpty();
  }

  @Test
  void theVersionIsAPartOfTheIdentityAndOldOnesAreRefused(@TempDir Path old) throws Exception {
    assertThat(rig.backend().plan(Map.of()).identity())
        .containsExactlyInAnyOrderEntriesOf(
            Map.of(
                "program", rig.standIn.program().toString(), "version", "2.1.332 (Claude Code)"));
    assertThatThrownBy(() -> planOf(new StandIn(old, "1.0.44 (Claude Code)")))
        .hasMessageContaining("claude_code 1.0.44")
        .hasMessageContaining("2.1.332 is tested");
    assertThat(planOf(new StandIn(old, "codex-cli 0.171.0")).identity())
        .containsEntry("version", "codex-cli 0.171.0");
  }

  private Backend.Plan planOf(StandIn program) {
    return rig.backend().plan(Map.of("executable", program.program().toString()));
  }

  private void answered(Agent agent) {
    assertThat(agent.run(rig.fixture.task("t1", "--help")))
        .isInstanceOf(AgentResult.Answered.class);
  }

  private static String mode(Path file) throws Exception {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }
}
