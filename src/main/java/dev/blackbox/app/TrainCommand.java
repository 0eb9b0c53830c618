package dev.blackbox.app;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

@Command(name = "train", hidden = true, description = "Trains the start-up cache.")
final class TrainCommand implements Callable<Integer> {
  private final RunningServer.Opener opener;

  TrainCommand(RunningServer.Opener opener) {
    this.opener = opener;
  }

  @Override
  public Integer call() {
    return opener == null ? 1 : 0;
  }
}
