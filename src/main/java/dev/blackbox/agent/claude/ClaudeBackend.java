package dev.blackbox.agent.claude;

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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Drives Claude Code (npm package {@code @anthropic-ai/claude-code}), one process per turn. */
public final class ClaudeBackend implements Backend {

  public static final String TYPE = "claude_code";

  /** The version that was tried with the real program. */
  public static final String TESTED_VERSION = "2.1.332";

  static final String SYSTEM_PROMPT_FILE = "prompts/system.txt";

  private static final Pattern OWN_VERSION = Pattern.compile("(\\d+)\\.\\S* \\(Claude Code\\)");

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
            TYPE,
            "@anthropic-ai/claude-code@" + TESTED_VERSION,
            "CLAUDE_CODE_BIN",
            "claude",
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
    ClaudeOptions checked = ClaudeOptions.parse(options);
    if (checked.permissionMode().equals(ClaudeOptions.BYPASS_PERMISSIONS) && root.getAsBoolean()) {
      throw Problem.badRequest(
          "claude_code permission_mode=bypassPermissions cannot run as root/sudo. Use"
              + " permission_mode=default or permission_mode=acceptEdits, or run the server as a"
              + " non-root user.",
          Map.of("blackbox_type", TYPE));
    }
    ProgramFinder.Found found = finder.find(checked.executable());
    refuseKnownBad(found);
    return new ClaudePlan(checked, found);
  }

  private void refuseKnownBad(ProgramFinder.Found found) {
    Matcher own = OWN_VERSION.matcher(found.version());
    if (own.matches() && Integer.parseInt(own.group(1)) < MAJOR_MIN) {
      throw Problem.of(
          ErrorCode.BACKEND_ERROR,
          "claude_code "
              + found.version()
              + " at "
              + found.path()
              + " cannot be driven: "
              + TESTED_VERSION
              + " is tested, and other versions 2.x should do. Install @anthropic-ai/claude-code@"
              + TESTED_VERSION
              + " or let "
              + finder.variable()
              + " name another program.",
          Map.of("blackbox_type", TYPE));
    }
  }

  private final class ClaudePlan implements Plan {

    private final ClaudeOptions options;
    private final ProgramFinder.Found program;

    ClaudePlan(ClaudeOptions options, ProgramFinder.Found program) {
      this.options = options;
      this.program = program;
    }

    @Override
    public Map<String, String> identity() {
      return Map.of("program", program.path().toString(), "version", program.version());
    }

    @Override
    public Agent start(AgentSlot slot) throws AgentStartException {
      ClaudeDialect dialect =
          new ClaudeDialect(
              slot,
              options,
              program.path(),
              finder.variable(),
              new ClaudeFiles(slot, options, environment));
      try {
        dialect.prepare();
      } catch (IOException failed) {
        throw new AgentStartException(
            "the files of claude_code cannot be written: " + failed, failed);
      }
      return new CliAgent(slot, dialect, limits);
    }
  }
}
