package dev.blackbox.control;

import dev.blackbox.process.ManagedProcess;
import dev.blackbox.process.ProcessIdentity;
import dev.blackbox.process.ProcessSpec;
import dev.blackbox.process.Processes;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** Commands without a shell: each is a few steps of the stage. */
record StagedProcesses(Stage stage, Truth truth) implements Processes {

  @Override
  public ManagedProcess start(ProcessSpec spec) {
    stage.step();
    Running running = new Running(new CompletableFuture<>());
    truth.commandBegan();
    Thread _ =
        stage.start(
            "command",
            () -> {
              stage.step();
              stage.step();
              running.exit(0);
            });
    return running;
  }

  private final class Running implements ManagedProcess {
    private final CompletableFuture<Integer> exit;

    Running(CompletableFuture<Integer> exit) {
      this.exit = exit;
    }

    private void exit(int code) {
      if (exit.complete(code)) {
        truth.commandEnded();
      }
    }

    @Override
    public ProcessIdentity identity() {
      throw new IllegalStateException("nobody asks");
    }

    @Override
    public OptionalInt exitCode() {
      return exit.isDone() ? OptionalInt.of(exit.join()) : OptionalInt.empty();
    }

    @Override
    public boolean isAlive() {
      return !exit.isDone();
    }

    @Override
    public CompletableFuture<Integer> onExit() {
      return exit;
    }

    @Override
    public Captured stdout() {
      return Captured.NOTHING;
    }

    @Override
    public Captured stderr() {
      return Captured.NOTHING;
    }

    @Override
    public void interrupt() {
      exit(-2);
    }

    @Override
    public boolean end(Duration grace) {
      stage.step();
      exit(-15);
      return true;
    }

    @Override
    public Set<ProcessIdentity> others() {
      return Set.of();
    }

    @Override
    public boolean sweep(Set<ProcessIdentity> spared) {
      return true;
    }

    @Override
    public void close() {
      boolean _ = end(Duration.ZERO);
    }
  }
}
