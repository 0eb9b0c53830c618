package dev.blackbox.app;

import dev.blackbox.config.LogLevel;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
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

  @CommandLine.Spec private CommandSpec spec;

  @CommandLine.Option(
      names = "--port",
      paramLabel = "N",
      defaultValue = "30000",
      description = "Port on 127.0.0.1; 0: any free one; default: ${DEFAULT-VALUE}.")
  private int port;

  @CommandLine.Option(
      names = "--answer",
      paramLabel = "TEXT",
      defaultValue = "Done.",
      description = "What it answers to every call; default: ${DEFAULT-VALUE}")
  private String answer = "";

  @CommandLine.Option(
      names = "--write",
      paramLabel = "FILE",
      description = "Before that, let the agent write this file with its tool \"write\".")
  private @Nullable Path file;

  @Override
  public Integer call() throws InterruptedException {
    Logging.start(LogLevel.INFO);
    Shutdown shutdown = new Shutdown(END_LIMIT, System.err);
    StopSignals.handle(shutdown::signalled);
    StartFailures.checkAddress("127.0.0.1", port);
    PrintWriter out = spec.commandLine().getOut();
    try (Engine engine = Engines.scripted(port, script())) {
      out.println("Scripted engine ready at http://127.0.0.1:" + engine.port() + "/v1");
      out.flush();
      shutdown.await();
    }
    return ExitCode.OK.number();
  }

  private List<Engine.Reply> script() {
    Engine.Reply text = new Engine.Reply.Text(answer);
    return file == null
        ? List.of(text)
        : List.of(DemoAgent.writing(file.toAbsolutePath(), DemoAgent.FILE_CONTENT), text);
  }
}
