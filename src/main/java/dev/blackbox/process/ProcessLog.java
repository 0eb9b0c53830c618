package dev.blackbox.process;

/**
 * Told of every process before anybody else can be; the ledger is behind it. May block for a
 * commit.
 */
public interface ProcessLog {

  /** The process runs. Thrown exceptions make the start fail, and the process is ended. */
  void started(String kind, ProcessIdentity identity);

  /**
   * The leader ended.
   *
   * @param exitCode of the leader; a death by signal n is −n
   */
  void ended(ProcessIdentity identity, int exitCode);
}
