package dev.blackbox.app;

import dev.blackbox.config.ServerConfiguration;
import dev.blackbox.config.Setting;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
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

  private static final Duration CALL_LIMIT = Duration.ofSeconds(60);

  /** Enough to see every class twice, so that none is left out of the cache as "not linked". */
  private static final int TURNS = 3;

  /** Asks the model with both kinds of call if there is a curl, and answers. */
  private static final String AGENT =
      """
      #!/bin/sh
      set -eu
      cat >/dev/null
      if command -v curl >/dev/null; then
        for stream in false true; do
          printf 'header = "Authorization: Bearer %s"\\n' "$OPENAI_API_KEY" |
            curl -sSf -K - -o /dev/null -H 'Content-Type: application/json' \\
              -d '{"stream":'$stream',"model":"m","messages":[{"role":"user","content":"Hello."}]}' \\
              "$OPENAI_BASE_URL/chat/completions"
        done
      fi
      echo Done.
      """;

  private final RunningServer.Opener opener;

  TrainCommand(RunningServer.Opener opener) {
    this.opener = opener;
  }

  @Override
  public Integer call() throws InterruptedException {
    Path directory = newDirectory();
    try (Engine engine = Engines.scripted(0, "{\"otherwise\": [\"Good morning to you.\"]}")) {
      Path agent = Files.writeString(directory.resolve("agent.sh"), AGENT);
      if (!agent.toFile().setExecutable(true)) {
        throw new IOException("cannot make executable: " + agent);
      }
      // Twice, because the second boot walks the way of recovery: a ledger with a binding in it.
      boot(directory, agent, engine);
      boot(directory, agent, engine);
      return ExitCode.OK.number();
    } catch (IOException failure) {
      throw new UncheckedIOException("training failed", failure);
    } finally {
      DemoCommand.delete(directory);
    }
  }

  private void boot(Path directory, Path agent, Engine engine) throws InterruptedException {
    ServerConfiguration configuration =
        Serve.read(
            Map.of(
                Setting.PORT, "0",
                Setting.RUNTIME_ROOT, directory.resolve("runtime").toString(),
                Setting.STATE_DIR, directory.resolve("state").toString(),
                Setting.SCRIPT_AGENT, agent.toString()),
            System.err);
    Logging.start(configuration.logLevel());
    try (RunningServer server = opener.open(configuration);
        ServerClient client = new ServerClient(server.ready().address(), CALL_LIMIT)) {
      client.get("/readyz");
      require(client.get("/health"), "/health");
      require(client.get("/v1/status"), "/v1/status");
      register(client, engine);
      for (int turn = 1; turn <= TURNS; turn++) {
        turn(client, server.ready().boot() + "-" + turn);
      }
    }
  }

  private static void register(ServerClient client, Engine engine) throws InterruptedException {
    require(
        client.post(
            "/v1/rollout/register",
            Map.of(
                "blackbox_type", "script",
                "router", "http://127.0.0.1:" + engine.port() + "/v1",
                "bound_session_id", "training",
                "bound_instance_id", "training")),
        "register");
  }

  private static void turn(ServerClient client, String id) throws InterruptedException {
    Map<String, Object> request =
        Map.of(
            "turn_id", id, "messages", List.of(Map.of("role", "user", "content", "Good morning.")));
    require(client.post("/v1/sessions/training/messages", request), "turn");
    require(client.post("/v1/sessions/training/messages", request), "replay");
    require(client.get("/v1/sessions/training/turns/" + id + "?wait=1"), "poll");
    require(client.get("/v1/sessions/training?include_history=true"), "session");
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
