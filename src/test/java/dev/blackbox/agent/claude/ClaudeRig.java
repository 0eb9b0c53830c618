package dev.blackbox.agent.claude;

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

/** A shell script that stands in for Claude Code, and the backend that drives it. */
final class ClaudeRig implements Resource {

  /** The id of the fixture's session, by the rule of the reference server. */
  static final String SESSION = dev.blackbox.agent.NameBasedUuid.of("inst-1:sess-1").toString();

  static final String INIT =
      "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"" + SESSION + "\"}";
  static final String ANSWER =
      "{\"type\":\"assistant\",\"message\":{\"id\":\"m1\",\"role\":\"assistant\",\"content\":"
          + "[{\"type\":\"text\",\"text\":\"done\"}]}}";
  static final String RESULT =
      "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"done\"}";

  static final CliLimits LIMITS =
      new CliLimits(1 << 20, 4 << 20, Duration.ofMillis(300), Duration.ofSeconds(2));

  final AgentFixture fixture;
  final StandIn standIn;
  final Path directory;

  ClaudeRig(Path directory, Path programs) throws IOException {
    this.directory = directory;
    fixture = new AgentFixture(directory);
    standIn = new StandIn(programs, "2.1.332 (Claude Code)");
  }

  ClaudeBackend backend() {
    Map<String, String> environment = new HashMap<>();
    environment.put("PATH", StandIn.PATH);
    environment.put("CLAUDE_CODE_BIN", standIn.program().toString());
    environment.put("ANTHROPIC_API_KEY", "somebody's");
    environment.put("HTTPS_PROXY", "http://proxy.example");
    return new ClaudeBackend(environment, fixture.processes, LIMITS, () -> false);
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
