package dev.blackbox.control;

import dev.blackbox.agent.Backend;
import dev.blackbox.control.Scenario.Action;
import dev.blackbox.control.Scenario.End;
import dev.blackbox.control.StagedLedger.Planted;
import dev.blackbox.kernel.Resource;
import dev.blackbox.ledger.CrashableLedger;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.ledger.LedgerRefusedException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * A ledger directory and the boots that follow each other on it. Plays scenarios one after the
 * other, each in a session of its own, and says what was wrong.
 */
final class ModelWorld implements Resource {

  private static final int ROUNDS_MAX = 60;
  private static final int EVENTS_MAX = 10_000;

  private final Path root;
  private final Planted planted;
  private final Supplier<Stage> stages;
  private final Truth truth = new Truth();
  private CrashableLedger ledger;
  private Boot boot;
  private int boots;
  private long eventsChecked;

  /** All that is in memory. */
  private record Boot(
      Stage stage,
      StagedProxy proxy,
      StagedBackend backend,
      StagedLedger ledger,
      RolloutControl control) {}

  ModelWorld(Path root, Planted planted, Supplier<Stage> stages) {
    this.root = root;
    this.planted = planted;
    this.stages = stages;
    this.ledger = open(root.resolve("state"));
    this.boot = boot();
  }

  private static CrashableLedger open(Path directory) {
    try {
      return CrashableLedger.open(directory);
    } catch (LedgerRefusedException refused) {
      throw new IllegalStateException(refused);
    }
  }

  private Boot boot() {
    boots++;
    Stage stage = stages.get();
    truth.opened(ledger.ledger(), stage);
    StagedProxy proxy = new StagedProxy(stage, truth);
    StagedBackend backend = new StagedBackend(stage, truth, proxy);
    StagedLedger staged = new StagedLedger(ledger.ledger(), stage, truth, planted);
    InstantSource clock = InstantSource.system();
    RolloutControl control =
        RolloutControl.open(
            new RolloutControl.Parts(
                staged.asLedger(),
                proxy,
                new StagedProcesses(stage, truth),
                type -> type.equals("fake") ? Optional.<Backend>of(backend) : Optional.empty(),
                List.of("fake"),
                List.of("fake"),
                config(),
                Map.of(),
                "test",
                clock),
            stage);
    return new Boot(stage, proxy, backend, staged, control);
  }

  private ControlConfig config() {
    ServerSettings settings =
        SettingOverrides.apply(
            ServerSettings.DEFAULTS,
            Map.of(
                "runtime_root",
                root.resolve("runtimes").toString(),
                "runtime_health_check_interval",
                3600.0,
                "runtime_health_check_retries",
                1));
    return new ControlConfig(
        settings,
        Duration.ofMillis(30),
        Duration.ofMillis(10),
        Duration.ofSeconds(5),
        Duration.ofMillis(1),
        1 << 16,
        4,
        1 << 16,
        1);
  }

  /** What was wrong first, if anything. After that this world is of no use any more. */
  Optional<String> play(Scenario scenario) {
    boot.stage.reseed(scenario.seed(), scenario.ranked());
    begin();
    Path stale = planted == Planted.FORGETS_AT_REOPEN ? journal() : root;
    List<AtomicInteger> done = new ArrayList<>();
    scenario.clients().forEach(_ -> done.add(new AtomicInteger()));
    startClients(scenario, done);
    if (scenario.end() != End.NONE) {
      boot.stage.run(scenario.endAtStep());
      end(scenario.end(), stale);
      boot.stage.reseed(scenario.seed() + 1, scenario.ranked());
      startClients(scenario, done);
    }
    boot.stage.runUntilIdle();
    if (boot.stage.knowsWhenIdle()
        && !boot.stage.runUntil(() -> truth.unfulfilledWishes().isEmpty())) {
      truth.unfulfilledWishes().forEach(truth::wrong);
    }
    finish(() -> isDone(scenario, done));
    truth.checkEnd();
    checkEvents();
    boot.stage.failures().stream().findFirst().ifPresent(failure -> truth.wrong(stack(failure)));
    return truth.verdict();
  }

  private static String stack(Throwable failure) {
    StackTraceElement[] stack = failure.getStackTrace();
    return "a thread died of " + failure + (stack.length == 0 ? "" : " at " + stack[0]);
  }

  /** A session without a past. */
  private void begin() {
    boot.ledger.down.set(0);
    AtomicInteger ready = new AtomicInteger();
    Thread _ =
        boot.stage.start(
            "begin",
            () -> {
              ModelClient client = client();
              client.play(new Action.Abort());
              client.play(new Action.Register(0, false));
              ready.incrementAndGet();
            });
    if (!boot.stage.runUntil(() -> ready.get() == 1)
        || !boot.control.status().state().equals("ready")) {
      truth.wrong("no new session can be had: " + boot.control.checks());
    }
  }

  private ModelClient client() {
    return new ModelClient(
        boot.control,
        boot.backend,
        boot.proxy,
        boot.ledger,
        ledger.ledger().reads(),
        boot.stage,
        truth);
  }

  private void startClients(Scenario scenario, List<AtomicInteger> done) {
    ModelClient client = client();
    for (int i = 0; i < scenario.clients().size(); i++) {
      List<Action> actions = scenario.clients().get(i);
      AtomicInteger next = done.get(i);
      Thread _ =
          boot.stage.start(
              "client-" + i,
              () -> {
                for (int a = next.get(); a < actions.size(); a++) {
                  boot.stage.step();
                  // Counted before: an action that is cut off is not tried again.
                  next.set(a + 1);
                  client.play(actions.get(a));
                }
                next.set(actions.size() + 1);
              });
    }
  }

  private static boolean isDone(Scenario scenario, List<AtomicInteger> done) {
    for (int i = 0; i < done.size(); i++) {
      if (done.get(i).get() <= scenario.clients().get(i).size()) {
        return false;
      }
    }
    return true;
  }

  private void end(End end, Path stale) {
    if (end == End.SHUTDOWN) {
      AtomicInteger closed = new AtomicInteger();
      Thread _ =
          boot.stage.start(
              "shutdown",
              () -> {
                boot.control.close();
                closed.incrementAndGet();
              });
      if (!boot.stage.runUntil(() -> closed.get() == 1)) {
        truth.wrong("the server does not end");
      }
    }
    boot.stage.kill();
    boot.stage.failures().stream().findFirst().ifPresent(failure -> truth.wrong(stack(failure)));
    Path next = ledger.directory();
    if (planted == Planted.FORGETS_AT_REOPEN) {
      next = stale;
    } else if (end == End.KILL_AND_LOSE_DATABASE && boots == 1) {
      // A later boot's journal begins with what the database of the boot before had.
      next = journal();
    }
    ledger.crash();
    ledger = open(next);
    boot = boot();
  }

  private Path journal() {
    try {
      return ledger.journalOnly(root.resolve("state-" + boots));
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
  }

  /** Lets everything go until all that was begun has come to an end. */
  private void finish(BooleanSupplier clientsDone) {
    for (int round = 0; round < ROUNDS_MAX * boot.stage.patience(); round++) {
      if (clientsDone.getAsBoolean() && truth.isAllSettled()) {
        return;
      }
      if (boot.control.pauseState().paused()) {
        ModelClient client = client();
        Thread _ = boot.stage.start("resume", () -> client.play(new Action.Resume(false)));
      }
      boot.ledger.down.set(0);
      boot.backend.letGo();
      boot.stage.runUntilIdle();
    }
    boolean _ = boot.stage.runUntil(() -> clientsDone.getAsBoolean() && truth.isAllSettled());
    if (!clientsDone.getAsBoolean()) {
      truth.wrong(
          "a client is never answered; "
              + boot.control.checks()
              + boot.control.pauseState()
              + truth.open());
    }
  }

  private void checkEvents() {
    List<LedgerFacts.Event> events = ledger.ledger().reads().events(eventsChecked + 1, EVENTS_MAX);
    truth.checkEvents(events);
    if (!events.isEmpty()) {
      eventsChecked = planted == Planted.NOTHING ? events.getLast().sequence() : 0;
    }
  }

  /** Ends the last boot as a crash, and checks the whole history. */
  @Override
  public void close() {
    List<String> problems = ledger.ledger().reads().verify().problems();
    boot.stage.kill();
    ledger.close();
    if (!problems.isEmpty()) {
      throw new AssertionError("P11: " + problems);
    }
  }
}
