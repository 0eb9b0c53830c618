package dev.blackbox.process;

import java.util.Set;

/**
 * What was done about the processes of an earlier boot.
 *
 * @param ended how many processes were ended
 * @param left those that could not be ended in time
 */
public record ReapReport(int ended, Set<ProcessIdentity> left) {

  public ReapReport {
    left = Set.copyOf(left);
  }

  public boolean isComplete() {
    return left.isEmpty();
  }
}
