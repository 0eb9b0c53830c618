package dev.blackbox.app;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;

/**
 * What a server and its agent use at one moment.
 *
 * @param serverMegabytes resident memory of the server
 * @param agentMegabytes of all processes below it, shared pages counted for each
 * @param handles open files of the server and of all processes below it
 * @param diskKilobytes files in the runtime directory of the binding
 * @param ledgerKilobytes files in the state directory
 */
record AgentGrowth(
    long serverMegabytes,
    long agentMegabytes,
    int processes,
    long handles,
    long diskKilobytes,
    long ledgerKilobytes) {

  static AgentGrowth now(AgentStage stage) throws IOException {
    ProcessFigures server = new ProcessFigures(stage.server().pid());
    double memory = 0;
    long handles = server.openHandles();
    List<ProcessHandle> below =
        stage.server().descendants().stream().filter(KillPointsTest::runs).toList();
    for (ProcessHandle process : below) {
      ProcessFigures figures = new ProcessFigures(process.pid());
      memory += figures.residentMegabytes();
      handles += figures.openHandles();
    }
    return new AgentGrowth(
        Math.round(server.residentMegabytes()),
        Math.round(memory),
        below.size(),
        handles,
        kilobytes(stage.directory()),
        kilobytes(stage.state()));
  }

  /** From this to that, for people. */
  String to(AgentGrowth later) {
    return "server %d → %d MB, agent %d → %d MB, agent processes %d → %d, handles %d → %d,"
            .formatted(
                serverMegabytes,
                later.serverMegabytes,
                agentMegabytes,
                later.agentMegabytes,
                processes,
                later.processes,
                handles,
                later.handles)
        + " runtime directory %d → %d KB, ledger %d → %d KB"
            .formatted(diskKilobytes, later.diskKilobytes, ledgerKilobytes, later.ledgerKilobytes);
  }

  /** Files may come and go meanwhile. */
  private static long kilobytes(Path directory) throws IOException {
    long[] bytes = {0};
    Files.walkFileTree(
        directory,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            bytes[0] += attributes.isRegularFile() ? attributes.size() : 0;
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult visitFileFailed(Path file, IOException gone) {
            return FileVisitResult.CONTINUE;
          }
        });
    return bytes[0] / 1024;
  }
}
