package dev.blackbox.app;

import dev.blackbox.config.ServerConfiguration;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/**
 * The program with a server that serves nothing, so that how it ends can be tried: its end waits
 * for being hurried ({@code TRIAL=slow}), or for ever ({@code TRIAL=stuck}), and leaves a file in
 * the state directory when it is over.
 */
final class TrialServer implements RunningServer {

  private final Path stateDirectory;
  private final CountDownLatch hurried = new CountDownLatch(1);
  private final String manner = String.valueOf(System.getenv("TRIAL"));

  private TrialServer(Path stateDirectory) {
    this.stateDirectory = stateDirectory;
  }

  public static void main(String[] arguments) {
    Runtime.getRuntime().halt(Main.run(arguments, TrialServer::open, System.err));
  }

  private static RunningServer open(ServerConfiguration configuration) {
    if (String.valueOf(System.getenv("TRIAL")).equals("broken")) {
      throw new IllegalStateException("a bug");
    }
    return new TrialServer(configuration.ledger().directory());
  }

  @Override
  public Ready ready() {
    return new Ready(URI.create("http://127.0.0.1:1"), stateDirectory, 3, "recovered 1 turn");
  }

  @Override
  public void hurry() {
    hurried.countDown();
  }

  @Override
  public void close() {
    try {
      Files.createFile(stateDirectory.resolve("closing"));
      switch (manner) {
        case "slow" -> hurried.await();
        case "stuck" -> new CountDownLatch(1).await();
        default -> {}
      }
      Files.createFile(stateDirectory.resolve("closed"));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
