package dev.blackbox.agent.codex;

import dev.blackbox.agent.Agent;
import dev.blackbox.agent.AgentSlot;
import dev.blackbox.agent.AgentStartException;
import dev.blackbox.agent.Backend;
import dev.blackbox.agent.Capabilities;
import dev.blackbox.agent.CliAgent;
import dev.blackbox.agent.CliLimits;
import dev.blackbox.agent.ProgramFinder;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.process.Processes;
import java.io.IOException;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Drives Codex (npm package {@code @openai/codex}), one process per turn. */
public final class CodexBackend implements Backend {

  public static final String TYPE = "codex";

  /** The version that was tried with the real program. */
  public static final String TESTED_VERSION = "0.171.0";

  static final String SYSTEM_PROMPT_FILE = "prompts/system.txt";

  private static final Pattern OWN_VERSION = Pattern.compile("codex-cli 0\\.(\\d+)\\..*");

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
            TYPE,
            "Codex CLI (@openai/codex@" + TESTED_VERSION + ")",
            "CODEX_BIN",
            "codex",
            this.environment,
            processes);
    this.limits = limits;
  }

  @Override
  public String type() {
    return TYPE;
  }

  @Override
  public Capabilities capabilities() {
    return Capabilities.STANDARD;
  }

  @Override
  public String systemPromptFile() {
    return SYSTEM_PROMPT_FILE;
  }

  @Override
  public String systemPromptTarget() {
    return TYPE;
  }

  @Override
  public Plan plan(Map<String, @Nullable Object> options) {
    CodexOptions checked = CodexOptions.parse(options);
    ProgramFinder.Found found = finder.find(checked.executable());
    refuseKnownBad(found);
    return new CodexPlan(checked, found);
  }

  private void refuseKnownBad(ProgramFinder.Found found) {
    Matcher own = OWN_VERSION.matcher(found.version());
    if (own.matches() && Integer.parseInt(own.group(1)) < MINOR_MIN) {
      throw Problem.of(
          ErrorCode.BACKEND_ERROR,
          found.version()
              + " at "
              + found.path()
              + " cannot be driven: "
              + TESTED_VERSION
              + " is tested, and later versions should do. Install @openai/codex@"
              + TESTED_VERSION
              + " or let "
              + finder.variable()
              + " name another program.",
          Map.of("blackbox_type", TYPE));
    }
  }

  private final class CodexPlan implements Plan {

    private final CodexOptions options;
    private final ProgramFinder.Found program;

    CodexPlan(CodexOptions options, ProgramFinder.Found program) {
      this.options = options;
      this.program = program;
    }

    @Override
    public Map<String, String> identity() {
      return Map.of("program", program.path().toString(), "version", program.version());
    }

    @Override
    public Agent start(AgentSlot slot) throws AgentStartException {
      CodexDialect dialect =
          new CodexDialect(
              slot,
              options,
              program.path(),
              finder.variable(),
              new CodexFiles(slot, options, environment));
      try {
        dialect.prepare();
      } catch (IOException failed) {
        throw new AgentStartException("the files of codex cannot be written: " + failed, failed);
      }
      return new CliAgent(slot, dialect, limits);
    }
  }
}
