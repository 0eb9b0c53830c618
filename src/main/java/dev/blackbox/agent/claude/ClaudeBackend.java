package dev.blackbox.agent.claude;

import dev.blackbox.agent.Backend;
import dev.blackbox.agent.CliLimits;
import dev.blackbox.agent.CliPlan;
import dev.blackbox.agent.ProgramFinder;
import dev.blackbox.kernel.Problem;
import dev.blackbox.process.Processes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Drives Claude Code (npm package {@code @anthropic-ai/claude-code}), one process per turn. */
public final class ClaudeBackend implements Backend {

  public static final String TYPE = "claude_code";

  /** The version that was tried with the real program. */
  public static final String TESTED_VERSION = "2.1.332";

  static final String SYSTEM_PROMPT_FILE = "prompts/system.txt";

  private static final Pattern OWN_VERSION = Pattern.compile("(\\d{1,6})\\.\\S* \\(Claude Code\\)");

  /** Versions before this one lack options that a turn needs. */
  private static final int MAJOR_MIN = 2;

  private static final Pattern EFFECTIVE_ROOT = Pattern.compile("(?m)^Uid:\\s+\\d+\\s+0\\s");

  private final Map<String, String> environment;
  private final ProgramFinder finder;
  private final CliLimits limits;
  private final BooleanSupplier root;

  /**
   * @param environment the server's own variables: {@code CLAUDE_CODE_BIN} or {@code PATH} lead to
   *     the program, and a few others are passed on to it
   * @param processes to ask the program for its version
   */
  public ClaudeBackend(Map<String, String> environment, Processes processes) {
    this(environment, processes, CliLimits.DEFAULT, ClaudeBackend::isRoot);
  }

  ClaudeBackend(
      Map<String, String> environment,
      Processes processes,
      CliLimits limits,
      BooleanSupplier root) {
    this.environment = Map.copyOf(environment);
    this.finder =
        new ProgramFinder(
            new ProgramFinder.Wanted(
                TYPE,
                "@anthropic-ai/claude-code@" + TESTED_VERSION,
                "CLAUDE_CODE_BIN",
                "claude",
                ProgramFinder.Versions.allButOld(
                    TESTED_VERSION, "other versions 2.x", OWN_VERSION, MAJOR_MIN),
                _ -> List.of()),
            this.environment,
            processes);
    this.limits = limits;
    this.root = root;
  }

  private static boolean isRoot() {
    try {
      return EFFECTIVE_ROOT.matcher(Files.readString(Path.of("/proc/self/status"))).find();
    } catch (IOException unreadable) {
      return false; // then the agent itself refuses
    }
  }

  @Override
  public String type() {
    return TYPE;
  }

  @Override
  public String systemPromptFile() {
    return SYSTEM_PROMPT_FILE;
  }

  @Override
  public Plan plan(Map<String, @Nullable Object> options) {
    ClaudeOptions checked = ClaudeOptions.parse(options);
    if (checked.permissionMode().equals(ClaudeOptions.BYPASS_PERMISSIONS) && root.getAsBoolean()) {
      throw Problem.badRequest(
          "claude_code permission_mode=bypassPermissions cannot run as root/sudo. Use"
              + " permission_mode=default or permission_mode=acceptEdits, or run the server as a"
              + " non-root user.",
          Map.of("blackbox_type", TYPE));
    }
    ProgramFinder.Found found = finder.find(checked.executable());
    return new CliPlan(
        found,
        limits,
        slot ->
            new ClaudeDialect(
                slot,
                checked,
                found.path(),
                finder.variable(),
                new ClaudeFiles(slot, checked, environment)));
  }
}
