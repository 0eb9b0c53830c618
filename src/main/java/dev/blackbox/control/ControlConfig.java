package dev.blackbox.control;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Bounds of the control room.
 *
 * @param settings what the HTTP API reports, and a registration may override in part
 * @param stopWithin how long to try to end a turn before its session is desynced
 * @param drainWithin how long a turn that has answered waits for model calls that are still in
 *     flight
 * @param controlCallWithin limit of a pause or resume call to the engine that names none itself
 * @param settleRetryEvery pause between two tries to record a result while the ledger is down
 * @param commandOutputBytesMax kept of each output stream of a command
 * @param commandsWaitingMax commands that may wait for the workspace; beyond it 503
 * @param systemPromptBytesMax largest system prompt file
 * @param failedRuntimesKept runtime directories of failed registrations that are kept for a look
 * @param promptRoots directories that a system prompt file must lie under; empty: anywhere
 */
public record ControlConfig(
    ServerSettings settings,
    Duration stopWithin,
    Duration drainWithin,
    Duration controlCallWithin,
    Duration settleRetryEvery,
    int commandOutputBytesMax,
    int commandsWaitingMax,
    int systemPromptBytesMax,
    int failedRuntimesKept,
    List<Path> promptRoots) {

  public ControlConfig {
    promptRoots = List.copyOf(promptRoots);
  }

  /** One that takes system prompt files from anywhere. */
  ControlConfig(
      ServerSettings settings,
      Duration stopWithin,
      Duration drainWithin,
      Duration controlCallWithin,
      Duration settleRetryEvery,
      int commandOutputBytesMax,
      int commandsWaitingMax,
      int systemPromptBytesMax,
      int failedRuntimesKept) {
    this(
        settings,
        stopWithin,
        drainWithin,
        controlCallWithin,
        settleRetryEvery,
        commandOutputBytesMax,
        commandsWaitingMax,
        systemPromptBytesMax,
        failedRuntimesKept,
        List.of());
  }

  /** The same, with system prompt files from these directories only. */
  public ControlConfig withPromptRoots(List<Path> roots) {
    return new ControlConfig(
        settings,
        stopWithin,
        drainWithin,
        controlCallWithin,
        settleRetryEvery,
        commandOutputBytesMax,
        commandsWaitingMax,
        systemPromptBytesMax,
        failedRuntimesKept,
        roots);
  }

  public static ControlConfig of(ServerSettings settings) {
    return new ControlConfig(
        settings,
        Duration.ofSeconds(15),
        Duration.ofSeconds(10),
        Duration.ofSeconds(60),
        Duration.ofMillis(500),
        8 << 20,
        16,
        1 << 20,
        5);
  }
}
