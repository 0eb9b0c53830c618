package dev.blackbox.agent.opencode;

import dev.blackbox.agent.Agent;
import dev.blackbox.agent.AgentSlot;
import dev.blackbox.agent.AgentStartException;
import dev.blackbox.agent.Backend;
import dev.blackbox.agent.Capabilities;
import dev.blackbox.process.Processes;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Drives opencode (npm package {@code opencode-ai}) through its own HTTP server. */
public final class OpencodeBackend implements Backend {

  public static final String TYPE = "opencode";

  /** The version that the tests with the real program use. */
  public static final String TESTED_VERSION = "1.18.33";

  static final String SYSTEM_PROMPT_FILE = "home/.config/opencode/prompts/build.txt";

  private final Map<String, String> environment;
  private final OpencodeProgram program;

  /**
   * @param environment the server's own variables: {@code OPENCODE_BIN} or {@code PATH} lead to the
   *     program, and a few others are passed on to it
   * @param processes to ask the program for its version
   */
  public OpencodeBackend(Map<String, String> environment, Processes processes) {
    this.environment = Map.copyOf(environment);
    this.program = new OpencodeProgram(this.environment, processes);
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

  /** The agent of opencode that gets it. */
  @Override
  public String systemPromptTarget() {
    return "build";
  }

  @Override
  public Plan plan(Map<String, @Nullable Object> options) {
    OpencodeOptions checked = OpencodeOptions.parse(options);
    OpencodeProgram.Found found = program.find();
    Map<String, String> identity = new LinkedHashMap<>();
    identity.put("program", found.path().toString());
    identity.put("version", found.version());
    return new Plan() {
      @Override
      public Map<String, String> identity() {
        return Map.copyOf(identity);
      }

      @Override
      public Agent start(AgentSlot slot) throws AgentStartException {
        return new OpencodeStart(checked, found, environment, slot).start();
      }
    };
  }
}
