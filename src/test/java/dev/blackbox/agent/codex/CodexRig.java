package dev.blackbox.agent.codex;

import dev.blackbox.agent.Agent;
import dev.blackbox.agent.AgentFixture;
import dev.blackbox.agent.AgentStartException;
import dev.blackbox.agent.CliLimits;
import dev.blackbox.agent.StandIn;
import dev.blackbox.kernel.Resource;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A shell script that stands in for Codex, and the backend that drives it. */
final class CodexRig implements Resource {

  static final String THREAD = "01a22cb2-2d9e-7d23-8ae7-21370f73d01c";
  static final String STARTED = "{\"type\":\"thread.started\",\"thread_id\":\"" + THREAD + "\"}";
  static final String ANSWER =
      "{\"type\":\"item.completed\",\"item\":{\"id\":\"item_9\",\"type\":\"agent_message\","
          + "\"text\":\"done\"}}";
  static final String COMPLETED =
      "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":100,\"cached_input_tokens\":20,"
          + "\"output_tokens\":7,\"reasoning_output_tokens\":3}}";

  static final CliLimits LIMITS =
      new CliLimits(1 << 20, 4 << 20, Duration.ofMillis(300), Duration.ofSeconds(2));

  final AgentFixture fixture;
  final StandIn standIn;
  final Path directory;

  CodexRig(Path directory, Path programs) throws IOException {
    this.directory = directory;
    fixture = new AgentFixture(directory);
    standIn = new StandIn(programs, "codex-cli 0.171.0");
  }

  CodexBackend backend() {
    Map<String, String> environment = new HashMap<>();
    environment.put("PATH", StandIn.PATH);
    environment.put("CODEX_BIN", standIn.program().toString());
    environment.put("OPENAI_API_KEY", "somebody's");
    return new CodexBackend(environment, fixture.processes, LIMITS);
  }

  Agent start(Map<String, @Nullable Object> options) throws AgentStartException {
    return start(options, Optional.empty(), Optional.empty());
  }

  Agent start(
      Map<String, @Nullable Object> options, Optional<String> prompt, Optional<String> known)
      throws AgentStartException {
    return backend()
        .plan(options)
        .start(fixture.slot(URI.create("http://127.0.0.1:4321/v1/x"), prompt, known));
  }

  @Override
  public void close() {
    fixture.close();
  }
}
