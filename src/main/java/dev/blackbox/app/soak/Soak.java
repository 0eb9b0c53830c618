package dev.blackbox.app.soak;

import dev.blackbox.app.ServerClient.Answer;
import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.EngineScript.Conversation;
import dev.blackbox.app.engine.Fault;
import dev.blackbox.app.engine.ScriptedEngine;
import dev.blackbox.app.engine.Step;
import dev.blackbox.app.soak.SoakReport.Figures;
import dev.blackbox.app.soak.Witness.Before;
import dev.blackbox.kernel.Closer;
import dev.blackbox.kernel.Resource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/**
 * A real server, real agents, clients that repeat what was not answered, and kills at any moment.
 * Effects are counted outside the server: the agent adds a line to a file in each run, its
 * processes are looked up in the process table, and clients remember every answer. The first broken
 * promise ends it. Everything that it started ends with {@link #close}.
 */
public final class Soak implements Resource {

  private static final Duration CLIENTS_END_WITHIN = Duration.ofMinutes(3);

  private final SoakPlan plan;
  private final Closer closer = new Closer();
  private final SoakLog log;
  private final SoakAgent agent;
  private final MarkedProcesses marked;
  private final ServerUnderTest server;
  private final Witness witness;
  private final Slot slot;
  private final Killer killer;
  private final AtomicBoolean over = new AtomicBoolean();
  private volatile boolean stopped;

  private Soak(SoakPlan plan) throws IOException {
    this.plan = plan;
    Files.createDirectories(plan.directory());
    log = closer.own(SoakLog.create(plan.directory().resolve("soak.log")));
    log.say("soak", "seed " + plan.seed() + ", " + plan.duration().toSeconds() + " s");
    agent = SoakAgent.write(plan.directory(), plan.agentScript());
    marked = new MarkedProcesses(agent.program());
    closer.own(marked::killAll);
    ScriptedEngine engine = closer.own(ScriptedEngine.start(0, script()));
    server = closer.own(new ServerUnderTest(plan, agent, marked, log, "state"));
    witness = new Witness(log);
    slot = new Slot(server.client(), engine.port(), log);
    killer = closer.own(new Killer(plan, server, marked, log));
  }

  /**
   * Starts a server, the engine, and nothing else yet.
   *
   * @throws UncheckedIOException if the directory cannot be used
   */
  public static Soak open(SoakPlan plan) {
    try {
      return new Soak(plan);
    } catch (IOException unusable) {
      throw new UncheckedIOException("cannot use " + plan.directory(), unusable);
    }
  }

  private static EngineScript script() {
    return new EngineScript(
        List.of(
            new Conversation(
                "call-slow",
                List.of(Step.text("slowly said").withDelayBeforeFirst(Duration.ofMillis(700)))),
            new Conversation(
                "call-error",
                List.of(
                    Step.text("said after an error")
                        .with(
                            Fault.Instead.error(500, "{\"error\":{\"message\":\"planted\"}}"), 1))),
            new Conversation(
                "call-cut", List.of(Step.text("said after a cut").with(new Fault.NoAnswer(), 1)))),
        List.of(Step.text("said")));
  }

  /** Does all that the plan says, then the checks at the end. */
  public SoakReport run() throws InterruptedException {
    Figures first = Figures.NONE;
    Figures last = Figures.NONE;
    killer.firstStarts();
    if (!log.isBroken()) {
      first = figures();
      slot.open();
      List<Thread> clients = clients();
      killAndCount();
      over.set(true);
      await(clients);
    }
    if (!log.isBroken()) {
      askAllAgain();
      last = figures();
      server.terminate();
      server.awaitOrderlyEnd();
      killer.checkLedger(server.state());
      witness.holdAgainst(agent.runs());
    }
    return new SoakReport(
        witness.ends(),
        witness.comparisons(),
        killer.kills(),
        killer.orderlyEnds() + (log.isBroken() ? 0 : 1),
        server.readyAgain(),
        first,
        last,
        log.violation(),
        plan.directory());
  }

  private void killAndCount() throws InterruptedException {
    long end = System.nanoTime() + plan.duration().toNanos();
    while (System.nanoTime() < end && !log.isBroken()) {
      killer.round();
      witness.holdAgainst(agent.runs());
    }
  }

  private List<Thread> clients() {
    List<Thread> clients = new ArrayList<>();
    for (int i = 1; i <= plan.turnClients(); i++) {
      String name = "client" + i;
      TurnClient client = new TurnClient(name, server, slot, witness, log, plan.choices(name));
      clients.add(Thread.ofVirtual().name(name).start(() -> untilOver(name, client::next)));
    }
    Meddler meddler =
        new Meddler(server, agent.program(), slot, witness, log, plan.choices("meddler"));
    clients.add(
        Thread.ofVirtual().name("meddler").start(() -> untilOver("meddler", meddler::next)));
    return clients;
  }

  /** Something that a client does again and again. */
  private interface Act {
    void next() throws InterruptedException;
  }

  private void untilOver(String name, Act act) {
    try {
      while (!over.get() && !log.isBroken()) {
        act.next();
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException failure) {
      if (!log.isBroken()) {
        log.broken(name, "the client failed: " + failure);
      }
    }
  }

  private void await(List<Thread> clients) throws InterruptedException {
    long end = System.nanoTime() + CLIENTS_END_WITHIN.toNanos();
    for (Thread client : clients) {
      if (log.isBroken()) {
        client.interrupt();
      }
      if (!client.join(Duration.ofNanos(Math.max(1, end - System.nanoTime())))) {
        log.broken("soak", client.getName() + " does not get an answer any more");
        client.interrupt();
      }
    }
  }

  /** Every turn that was ever acknowledged, once more: the same answer, and none without an end. */
  private void askAllAgain() throws InterruptedException {
    for (Turn turn : witness.acknowledged()) {
      Before before = witness.before(turn);
      Answer answer = server.client().post(turn.submitPath(), turn.request(false));
      Witness.Sense sense = witness.submitted("again", turn, before, answer);
      if (sense != Witness.Sense.SETTLED) {
        log.broken("again", turn + " has no end: " + answer.text());
      }
      if (turn.session().equals(slot.session())) {
        witness.viewed("again", turn, witness.before(turn), server.client().get(turn.path()));
      }
      if (log.isBroken()) {
        return;
      }
    }
  }

  private Figures figures() {
    try {
      return new Figures(
          server.figures().residentMegabytes(),
          server.figures().openHandles(),
          bytes(server.state()));
    } catch (IOException unreadable) {
      throw new UncheckedIOException("the server's figures cannot be read", unreadable);
    }
  }

  /** Files come and go while the server works, so one that is gone counts as nothing. */
  private static long bytes(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(Path::toFile).mapToLong(java.io.File::length).sum();
    }
  }

  /** Whether it was {@link #close}d before its end; what {@link #run} then says means nothing. */
  public boolean isStopped() {
    return stopped;
  }

  /** Whether a promise was broken. */
  public Optional<String> violation() {
    return log.violation();
  }

  @Override
  public synchronized void close() {
    stopped = !over.getAndSet(true);
    closer.close();
  }
}
