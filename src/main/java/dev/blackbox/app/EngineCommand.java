package dev.blackbox.app;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

@Command(name = "engine", description = "Runs a scripted engine.", mixinStandardHelpOptions = true)
final class EngineCommand implements Callable<Integer> {
  @Override
  public Integer call() {
    return 0;
  }
}
