package dev.blackbox.agent;

/**
 * How one run of a CLI agent ended.
 *
 * @param code exit code; death by signal n is −n
 * @param ended true if it did not exit after its final event and was ended by us: then the code
 *     says nothing
 * @param errors the last lines that this run wrote to standard error
 * @param output the last lines that this run wrote to standard output
 */
public record CliExit(int code, boolean ended, String errors, String output) {

  /** Exited by itself, and says that it failed. */
  public boolean isFailure() {
    return !ended && code != 0;
  }
}
