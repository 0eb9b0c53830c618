package dev.blackbox.app.soak;

import dev.blackbox.app.LedgerInspection;
import dev.blackbox.app.soak.MarkedProcesses.Marked;
import dev.blackbox.kernel.Resource;
import dev.blackbox.ledger.LedgerConfig;
import dev.blackbox.ledger.LedgerFacts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Ends the server and its agents at moments that the seed chooses, and starts it again. */
final class Killer implements Resource {

  private static final String WHO = "killer";

  /** A start that was never seen whole is taken to last this long. */
  private static final double START_MILLIS = 1_500;

  private final SoakPlan plan;
  private final ServerUnderTest server;
  private final MarkedProcesses marked;
  private final SoakLog log;
  private final Random random;
  private final Map<Phase, Integer> kills = new EnumMap<>(Phase.class);
  private int orderlyEnds;
  private int scratches;
  private boolean stopped;
  private @Nullable ServerUnderTest scratch;

  Killer(SoakPlan plan, ServerUnderTest server, MarkedProcesses marked, SoakLog log) {
    this.plan = plan;
    this.server = server;
    this.marked = marked;
    this.log = log;
    this.random = plan.choices(WHO);
  }

  Map<Phase, Integer> kills() {
    return Map.copyOf(kills);
  }

  int orderlyEnds() {
    return orderlyEnds;
  }

  /** The very first starts, in which the tables are made, are killed; the last of them is not. */
  void firstStarts() throws InterruptedException {
    killedStarts(server, Phase.FIRST_START, 1 + random.nextInt(3));
    server.awaitReady();
  }

  /** One kill, or a few, and the server is ready again. */
  void round() throws InterruptedException {
    int choice = random.nextInt(100);
    liveFor(random.nextInt(100) < 80 ? 1_500 : 4_000);
    if (!server.isAlive()) {
      return;
    }
    if (choice < 50) {
      kill(server, Phase.SERVING);
      startAgain(Phase.RECOVERY);
    } else if (choice < 65) {
      killInShutdown();
    } else if (choice < 73) {
      server.terminate();
      server.awaitOrderlyEnd();
      orderlyEnds++;
      startAgain(Phase.START);
    } else if (choice < 94) {
      killAgent();
    } else {
      anotherFirstStart();
    }
  }

  private void killInShutdown() throws InterruptedException {
    server.terminate();
    Thread.sleep(random.nextInt(600));
    if (server.hasEnded()) {
      server.awaitOrderlyEnd();
      orderlyEnds++;
      startAgain(Phase.START);
    } else {
      kill(server, Phase.SHUTDOWN);
      startAgain(Phase.RECOVERY);
    }
  }

  private void killAgent() {
    List<Marked> running = marked.running();
    if (!running.isEmpty()) {
      Marked chosen = running.get(random.nextInt(running.size()));
      log.say(WHO, "kill -9 of " + chosen);
      chosen.kill();
      count(Phase.AGENT);
    }
  }

  private void startAgain(Phase phase) throws InterruptedException {
    if (log.isBroken()) {
      return;
    }
    server.start();
    if (random.nextInt(3) == 0) {
      killedStarts(server, phase, 1 + random.nextInt(3));
    }
    server.awaitReady();
  }

  /** Kills a start and the starts after it, each at some moment; the last is left alone. */
  private void killedStarts(ServerUnderTest victim, Phase phase, int times)
      throws InterruptedException {
    for (int i = 0; i < times && !log.isBroken(); i++) {
      double usual =
          server.readyAgain().count() == 0 ? START_MILLIS : server.readyAgain().p50() * 1.1;
      Thread.sleep((long) (random.nextDouble() * usual));
      kill(victim, victim.isReady() ? Phase.SERVING : phase);
      victim.start();
    }
  }

  /** The first starts of a ledger of its own, beside the other. */
  private void anotherFirstStart() throws InterruptedException {
    scratches++;
    SoakPlan apart = plan.in(plan.directory().resolve("first-" + scratches));
    try {
      Files.createDirectory(apart.directory());
      SoakAgent agent = SoakAgent.write(apart.directory(), plan.agentScript());
      ServerUnderTest another =
          new ServerUnderTest(apart, agent, new MarkedProcesses(agent.program()), log, "state");
      own(another);
      try (another) {
        killedStarts(another, Phase.FIRST_START, 1 + random.nextInt(3));
        another.awaitReady();
        another.terminate();
        another.awaitOrderlyEnd();
      }
      checkLedger(another.state());
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot use " + apart.directory(), failure);
    }
  }

  private synchronized void own(ServerUnderTest another) {
    scratch = another;
    if (stopped) {
      another.close();
    }
  }

  private void kill(ServerUnderTest victim, Phase phase) throws InterruptedException {
    victim.kill(phase.words());
    count(phase);
  }

  private void count(Phase phase) {
    kills.merge(phase, 1, Integer::sum);
  }

  private void liveFor(int millisMax) throws InterruptedException {
    long end = System.nanoTime() + (50L + random.nextInt(millisMax)) * 1_000_000;
    while (System.nanoTime() < end && !log.isBroken()) {
      Thread.sleep(10);
    }
  }

  /** As {@code bbs ledger check} does it (P11). */
  void checkLedger(Path state) {
    try (LedgerInspection ledger = LedgerInspection.open(LedgerConfig.at(state))) {
      LedgerFacts.ChainReport report = ledger.reads().verify();
      log.say(WHO, "ledger check: " + report.events() + " events, " + report.problems());
      if (!report.problems().isEmpty()) {
        log.broken(
            WHO, "the history in " + state + " is not whole: " + report.problems() + " (P11)");
      }
    } catch (RuntimeException refused) {
      log.broken(WHO, "the ledger in " + state + " does not open: " + refused.getMessage());
    }
  }

  @Override
  public synchronized void close() {
    stopped = true;
    if (scratch != null) {
      scratch.close();
    }
  }
}
