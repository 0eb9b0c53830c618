package dev.blackbox.app.soak;

import dev.blackbox.app.ProcessFigures;
import dev.blackbox.app.Samples;
import dev.blackbox.app.ServerClient;
import dev.blackbox.app.ServerProcess;
import dev.blackbox.app.soak.MarkedProcesses.Marked;
import dev.blackbox.kernel.Closer;
import dev.blackbox.kernel.Resource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * The server that is killed and started again, and what is checked about each start. All but {@link
 * #client} and {@link #close} are for the thread that does the killing.
 */
final class ServerUnderTest implements Resource {

  private static final Duration CALL_LIMIT = Duration.ofSeconds(60);
  private static final Duration END_LIMIT = Duration.ofSeconds(30);
  private static final Duration LOOK_AGAIN = Duration.ofMillis(20);
  private static final String WHO = "server";

  private final SoakPlan plan;
  private final SoakAgent agent;
  private final MarkedProcesses marked;
  private final SoakLog log;
  private final Path state;
  private final int port = freePort();
  private final Closer closer = new Closer();
  private final ServerClient client = closer.own(new ServerClient(address(), CALL_LIMIT));
  private final ServerClient probe = closer.own(new ServerClient(address(), Duration.ofSeconds(5)));
  private final Samples readyAgain = new Samples();

  private boolean closed;
  private volatile ServerProcess process;
  private long startedNanos;
  private List<Marked> survivors = List.of();

  /**
   * Starts the first one.
   *
   * @param name of its state directory and its log in the soak's directory
   */
  ServerUnderTest(
      SoakPlan plan, SoakAgent agent, MarkedProcesses marked, SoakLog log, String name) {
    this.plan = plan;
    this.agent = agent;
    this.marked = marked;
    this.log = log;
    this.state = plan.directory().resolve(name);
    this.process = started();
  }

  /** For everybody; the address stays the same. */
  ServerClient client() {
    return client;
  }

  URI address() {
    return URI.create("http://127.0.0.1:" + port);
  }

  Path state() {
    return state;
  }

  /** From the start of a process to {@code /readyz} saying yes, in milliseconds. */
  Samples readyAgain() {
    return readyAgain;
  }

  ProcessFigures figures() {
    return new ProcessFigures(process.pid());
  }

  /** Starts it again, after it ended in any way. */
  void start() {
    survivors = marked.running();
    process = started();
  }

  private synchronized ServerProcess started() {
    if (closed) {
      throw new IllegalStateException("the soak was stopped");
    }
    startedNanos = System.nanoTime();
    ServerProcess server =
        ServerProcess.start(
            plan.serverMain(),
            List.of(
                "--port=" + port,
                "--state-dir=" + state,
                "--runtime-root=" + plan.directory().resolve("runtime"),
                "--script-agent=" + agent.program(),
                "--shutdown-timeout=10",
                "--backend-timeout=60",
                // Small, so that kills meet checkpoints and the turn of segments too.
                "--ledger-checkpoint-bytes=65536",
                "--ledger-checkpoint-seconds=2"),
            Map.of(),
            plan.directory().resolve(state.getFileName() + ".log"));
    log.say(WHO, "started, pid " + server.pid() + ", left of the boot before: " + survivors);
    return server;
  }

  boolean isReady() {
    return process.isReady();
  }

  /** Waits until it takes work, and checks what must be true by then. */
  void awaitReady() throws InterruptedException {
    try {
      String line = process.awaitReady(plan.readyWithin());
      log.say(WHO, line.substring(line.lastIndexOf(", boot") + 2));
    } catch (IllegalStateException notReady) {
      log.broken(WHO, String.valueOf(notReady.getMessage()));
      return;
    }
    List<Marked> orphans = survivors.stream().filter(Marked::runs).toList();
    if (!orphans.isEmpty()) {
      log.broken(WHO, "ready, and processes of the boot before still run: " + orphans + " (P7)");
    }
    awaitReadyz();
  }

  private void awaitReadyz() throws InterruptedException {
    String last = "";
    long bound = plan.readyWithin().toNanos();
    while (System.nanoTime() - startedNanos < bound) {
      try {
        ServerClient.Answer answer = probe.get("/readyz");
        if (answer.status() == 200) {
          readyAgain.add((System.nanoTime() - startedNanos) / 1e6);
          return;
        }
        last = answer.text();
      } catch (UncheckedIOException notYet) {
        last = String.valueOf(notYet.getMessage());
      }
      Thread.sleep(LOOK_AGAIN);
    }
    log.broken(WHO, "not ready " + plan.readyWithin().toSeconds() + " s after its start: " + last);
  }

  /** Says so if it ended by itself. */
  boolean isAlive() {
    boolean alive = process.isAlive();
    if (!alive) {
      log.broken(WHO, "it ended by itself. " + process.logTail());
    }
    return alive;
  }

  void kill(String why) throws InterruptedException {
    log.say(WHO, "kill -9, " + why);
    process.kill();
    log.say(WHO, "dead");
  }

  void terminate() {
    log.say(WHO, "SIGTERM");
    process.terminate();
  }

  boolean hasEnded() {
    return !process.isAlive();
  }

  /** After {@link #terminate}: it must end in order, and leave nothing running. */
  void awaitOrderlyEnd() throws InterruptedException {
    try {
      int code = process.awaitEnd(END_LIMIT);
      log.say(WHO, "ended with exit code " + code);
      if (code != 0) {
        log.broken(WHO, "the orderly end had exit code " + code + ". " + process.logTail());
      }
    } catch (IllegalStateException stillThere) {
      log.broken(WHO, String.valueOf(stillThere.getMessage()));
      return;
    }
    List<Marked> left = marked.running();
    if (!left.isEmpty()) {
      log.broken(WHO, "it ended in order and left " + left + " (P7)");
    }
  }

  private static int freePort() {
    try (ServerSocket any =
        new ServerSocket(0, 1, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}))) {
      return any.getLocalPort();
    } catch (IOException failure) {
      throw new UncheckedIOException("no free port", failure);
    }
  }

  /** Ends it at once: its orderly end is tried elsewhere. */
  @Override
  public synchronized void close() {
    closed = true;
    try {
      process.kill();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    closer.close();
  }
}
