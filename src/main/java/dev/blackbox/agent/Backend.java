package dev.blackbox.agent;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The adapter for one kind of agent. Stateless. */
public interface Backend {

  /** The {@code blackbox_type} that selects it. */
  String type();

  default Capabilities capabilities() {
    return Capabilities.STANDARD;
  }

  /**
   * Where the system prompt is copied to, relative to the runtime directory, as the binding reports
   * it.
   */
  String systemPromptFile();

  /**
   * What the system prompt applies to, as the binding reports it; for most backends their own type.
   */
  default String systemPromptTarget() {
    return type();
  }

  /**
   * Checks the options completely and finds the program, without any side effect.
   *
   * @param options {@code backend_options} without its {@code proxy} part
   * @throws dev.blackbox.kernel.Problem {@code request_error} whose text begins with {@code Invalid
   *     <type> backend_options} and names each offending field with its dotted path; {@code
   *     backend_error} if the program is missing
   */
  Plan plan(Map<String, @Nullable Object> options);

  /** Checked options, ready to start an agent. */
  interface Plan {

    /**
     * Program path and version and whatever else of the machine decides how the agent behaves; goes
     * into the configuration hash.
     */
    Map<String, String> identity();

    /**
     * Starts the agent and returns when it can take a turn. Ends everything that it started before
     * it throws.
     *
     * @throws AgentStartException if it cannot be started or is not ready within the slot's limit
     */
    Agent start(AgentSlot slot) throws AgentStartException;
  }
}
