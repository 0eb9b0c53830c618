package dev.blackbox.app;

import dev.blackbox.config.LogLevel;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;

/** {@code engine}: a model for those who have none at hand. */
@Command(
    name = "engine",
    description = "Runs an OpenAI-compatible engine that answers from a script, until SIGTERM.",
    mixinStandardHelpOptions = true,
    versionProvider = Commands.Root.class)
final class EngineCommand implements Callable<Integer> {

  private static final Duration END_LIMIT = Duration.ofSeconds(10);
  private static final String DEFAULT_SCRIPT = "{\"otherwise\": [\"Done.\"]}";

  @CommandLine.Spec private CommandSpec spec;

  @CommandLine.Option(
      names = "--port",
      paramLabel = "N",
      defaultValue = "30000",
      description = "Port on 127.0.0.1; 0: any free one; default: ${DEFAULT-VALUE}.")
  private int port;

  @CommandLine.Option(
      names = "--script",
      paramLabel = "FILE",
      description = "What it says, see docs/engine.md; without it, it says \"Done.\"")
  private @Nullable Path file;

  @Override
  public Integer call() throws InterruptedException {
    Logging.start(LogLevel.INFO);
    Shutdown shutdown = new Shutdown(END_LIMIT, System.err);
    StopSignals.handle(shutdown::signalled);
    String script = script();
    StartFailures.checkAddress("127.0.0.1", port);
    PrintWriter out = spec.commandLine().getOut();
    try (Engine engine = start(script)) {
      out.println("Scripted engine ready at http://127.0.0.1:" + engine.port() + "/v1");
      out.flush();
      shutdown.await();
    }
    return ExitCode.OK.number();
  }

  private Engine start(String script) {
    try {
      return Engines.scripted(port, script);
    } catch (IllegalArgumentException malformed) {
      throw new ExitException(ExitCode.USAGE, String.valueOf(malformed.getMessage()), malformed);
    }
  }

  private String script() {
    if (file == null) {
      return DEFAULT_SCRIPT;
    }
    try {
      return Files.readString(file);
    } catch (IOException unreadable) {
      throw new ExitException(ExitCode.USAGE, "--script cannot be read: " + unreadable, unreadable);
    }
  }
}
