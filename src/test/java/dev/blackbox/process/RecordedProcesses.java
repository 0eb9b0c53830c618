package dev.blackbox.process;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** Keeps in memory what is told of processes. */
final class RecordedProcesses implements ProcessLog {

  final List<ProcessIdentity> started = new CopyOnWriteArrayList<>();
  final Map<ProcessIdentity, Integer> ended = new ConcurrentHashMap<>();

  @Override
  public void started(String kind, ProcessIdentity identity) {
    started.add(identity);
  }

  @Override
  public void ended(ProcessIdentity identity, int exitCode) {
    ended.put(identity, exitCode);
  }
}
