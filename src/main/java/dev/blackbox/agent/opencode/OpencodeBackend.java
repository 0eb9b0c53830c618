package dev.blackbox.agent.opencode;

import dev.blackbox.agent.Agent;
import dev.blackbox.agent.AgentSlot;
import dev.blackbox.agent.AgentStartException;
import dev.blackbox.agent.Backend;
import dev.blackbox.agent.ProgramFinder;
import dev.blackbox.process.Processes;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Drives opencode (npm package {@code opencode-ai}) through its own HTTP server. */
public final class OpencodeBackend implements Backend {

  public static final String TYPE = "opencode";

  /** The version that the tests with the real program use. */
  public static final String TESTED_VERSION = "1.18.33";

  static final String SYSTEM_PROMPT_FILE = "home/.config/opencode/prompts/build.txt";

  private static final Pattern VERSION = Pattern.compile("(\\d{1,6})\\.(\\d{1,6})\\.(\\d+)\\S*");
  private static final int MAJOR = 1;
  private static final int MINOR_MIN = 18;

  private final Map<String, String> environment;
  private final ProgramFinder finder;

  /**
   * @param environment the server's own variables: {@code OPENCODE_BIN} or {@code PATH} lead to the
   *     program, and a few others are passed on to it
   * @param processes to ask the program for its version
   */
  public OpencodeBackend(Map<String, String> environment, Processes processes) {
    this.environment = Map.copyOf(environment);
    this.finder =
        new ProgramFinder(
            new ProgramFinder.Wanted(
                TYPE,
                "opencode-ai@" + TESTED_VERSION,
                "OPENCODE_BIN",
                "opencode",
                new ProgramFinder.Versions(
                    TESTED_VERSION, "1.18 or a later 1.x", OpencodeBackend::isGood),
                _ -> List.of()),
            this.environment,
            processes);
  }

  /** The HTTP interface that this adapter speaks is known from 1.18 on, within major version 1. */
  private static boolean isGood(String version) {
    Matcher parts = VERSION.matcher(version);
    return parts.matches()
        && Integer.parseInt(parts.group(1)) == MAJOR
        && Integer.parseInt(parts.group(2)) >= MINOR_MIN;
  }

  @Override
  public String type() {
    return TYPE;
  }

  @Override
  public String systemPromptFile() {
    return SYSTEM_PROMPT_FILE;
  }

  /** The agent of opencode that gets it. */
  @Override
  public String systemPromptTarget() {
    return "build";
  }

  @Override
  public Plan plan(Map<String, @Nullable Object> options) {
    OpencodeOptions checked = OpencodeOptions.parse(options);
    ProgramFinder.Found found = finder.find(Optional.empty());
    return new Plan() {
      @Override
      public Map<String, String> identity() {
        return found.identity();
      }

      @Override
      public Agent start(AgentSlot slot) throws AgentStartException {
        return OpencodeStart.start(checked, found, environment, slot);
      }
    };
  }
}
