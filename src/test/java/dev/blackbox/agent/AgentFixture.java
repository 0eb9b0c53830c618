package dev.blackbox.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.blackbox.kernel.InstanceId;
import dev.blackbox.kernel.Secret;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.process.ProcessIdentity;
import dev.blackbox.process.ProcessLog;
import dev.blackbox.process.Processes;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

/** What the server gives to an agent, for tests. Closing fails if a process is left. */
public final class AgentFixture implements AutoCloseable {

  public static final String MODEL_KEY = "key-of-the-test";

  public final List<ProcessIdentity> started = new CopyOnWriteArrayList<>();

  /** What the agent said its own session is. */
  public final List<String> backendSessions = new CopyOnWriteArrayList<>();

  public final Processes processes;

  private final Path runtimeDirectory;
  private final String marker = "test-" + UUID.randomUUID();

  public AgentFixture(Path runtimeDirectory) {
    this.runtimeDirectory = runtimeDirectory.toAbsolutePath();
    this.processes =
        Processes.create(
            marker,
            new ProcessLog() {
              @Override
              public void started(String kind, ProcessIdentity identity) {
                started.add(identity);
              }

              @Override
              public void ended(ProcessIdentity identity, int exitCode) {
                // the tests look at the processes themselves
              }
            });
  }

  public AgentSlot slot(URI modelBase, Optional<String> systemPrompt, Optional<String> known) {
    return slot(modelBase, systemPrompt, known, Duration.ofSeconds(90));
  }

  public AgentSlot slot(
      URI modelBase, Optional<String> systemPrompt, Optional<String> known, Duration startTimeout) {
    return new AgentSlot(
        runtimeDirectory,
        SessionId.parse("sess-1"),
        InstanceId.parse("inst-1"),
        modelBase,
        Secret.of(MODEL_KEY),
        Duration.ofSeconds(600),
        systemPrompt,
        known,
        startTimeout,
        Duration.ofSeconds(2),
        processes,
        InstantSource.system());
  }

  public AgentTask task(String turnId, String prompt) {
    return new AgentTask(TurnId.parse(turnId), prompt, backendSessions::add, 0);
  }

  /** Runs a turn while the test goes on. */
  public CompletableFuture<AgentResult> runInBackground(Agent agent, String turnId, String prompt) {
    return CompletableFuture.supplyAsync(() -> agent.run(task(turnId, prompt)));
  }

  /** The process whose id a stand-in has written into the workspace. */
  public ProcessIdentity child() throws IOException {
    Path file = runtimeDirectory.resolve("workspace/child");
    await().atMost(Duration.ofSeconds(30)).until(() -> Files.exists(file));
    return ProcessIdentity.of(Long.parseLong(Files.readString(file).strip())).orElseThrow();
  }

  public static void assertBroken(AgentResult result, AgentResult.Kind kind, String message) {
    assertThat(result)
        .isInstanceOfSatisfying(
            AgentResult.Broken.class,
            broken -> {
              assertThat(broken.kind()).as(broken.message()).isEqualTo(kind);
              assertThat(broken.message()).contains(message);
            });
  }

  @Override
  public void close() {
    assertThat(Processes.reap(List.of(), marker, Duration.ofSeconds(10)).ended())
        .as("processes that were left")
        .isZero();
  }
}
