package dev.blackbox.agent.codex;

import dev.blackbox.agent.Backend;
import dev.blackbox.agent.CliLimits;
import dev.blackbox.agent.CliPlan;
import dev.blackbox.agent.ProgramFinder;
import dev.blackbox.process.Processes;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Drives Codex (npm package {@code @openai/codex}), one process per turn. */
public final class CodexBackend implements Backend {

  public static final String TYPE = "codex";

  /** The version that was tried with the real program. */
  public static final String TESTED_VERSION = "0.171.0";

  static final String SYSTEM_PROMPT_FILE = "prompts/system.txt";

  private static final Pattern OWN_VERSION = Pattern.compile("codex-cli 0\\.(\\d{1,6})\\..*");

  /** Versions 0.x before this one print other events than those that are read here. */
  private static final int MINOR_MIN = 44;

  private final Map<String, String> environment;
  private final ProgramFinder finder;
  private final CliLimits limits;

  /**
   * @param environment the server's own variables: {@code CODEX_BIN} or {@code PATH} lead to the
   *     program, and a few others are passed on to it
   * @param processes to ask the program for its version
   */
  public CodexBackend(Map<String, String> environment, Processes processes) {
    this(environment, processes, CliLimits.DEFAULT);
  }

  CodexBackend(Map<String, String> environment, Processes processes, CliLimits limits) {
    this.environment = Map.copyOf(environment);
    this.finder =
        new ProgramFinder(
            new ProgramFinder.Wanted(
                TYPE,
                "Codex CLI (@openai/codex@" + TESTED_VERSION + ")",
                "CODEX_BIN",
                "codex",
                ProgramFinder.Versions.allButOld(
                    TESTED_VERSION, "later versions", OWN_VERSION, MINOR_MIN),
                _ -> List.of()),
            this.environment,
            processes);
    this.limits = limits;
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
    CodexOptions checked = CodexOptions.parse(options);
    ProgramFinder.Found found = finder.find(checked.executable());
    return new CliPlan(
        found,
        limits,
        slot ->
            new CodexDialect(
                slot,
                checked,
                found.path(),
                finder.variable(),
                new CodexFiles(slot, checked, environment)));
  }
}
