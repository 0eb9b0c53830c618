package dev.blackbox.app;

import dev.blackbox.config.ServerConfiguration;
import dev.blackbox.config.Setting;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/**
 * {@code train}: walks once through what a server does, so that the JVM can write down in the
 * start-up cache which classes that takes and what the profile was. The build calls it, through the
 * launcher.
 */
@Command(
    name = "train",
    hidden = true,
    description = "Walks once through what a server does, for the start-up cache.")
final class TrainCommand implements Callable<Integer> {

  private static final Duration CALL_LIMIT = Duration.ofSeconds(30);

  private final RunningServer.Opener opener;

  TrainCommand(RunningServer.Opener opener) {
    this.opener = opener;
  }

  @Override
  public Integer call() throws InterruptedException {
    Path directory = newDirectory();
    try {
      // Twice, because the second boot walks the way of recovery: a ledger with something in it.
      boot(directory);
      boot(directory);
      return ExitCode.OK.number();
    } finally {
      DemoCommand.delete(directory);
    }
  }

  private void boot(Path directory) throws InterruptedException {
    ServerConfiguration configuration =
        Serve.read(
            Map.of(
                Setting.PORT, "0",
                Setting.RUNTIME_ROOT, directory.resolve("runtime").toString(),
                Setting.STATE_DIR, directory.resolve("state").toString()),
            System.err);
    Logging.start(configuration.logLevel());
    try (RunningServer server = opener.open(configuration);
        ServerClient client = new ServerClient(server.ready().address(), CALL_LIMIT)) {
      for (String path : new String[] {"/health", "/readyz", "/v1/status"}) {
        require(client.get(path), path);
      }
    }
  }

  private static void require(ServerClient.Answer answer, String what) {
    if (answer.status() != 200) {
      throw new ExitException(
          ExitCode.INTERNAL, what + " was answered with " + answer.status() + ": " + answer.text());
    }
  }

  private static Path newDirectory() {
    try {
      return Files.createTempDirectory("bbs-train-").toRealPath();
    } catch (IOException failure) {
      throw new UncheckedIOException("no temporary directory", failure);
    }
  }
}
