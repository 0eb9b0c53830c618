package dev.blackbox.control;

import dev.blackbox.control.Rollout.RegisterRequest;
import dev.blackbox.control.Rollout.TurnView;
import dev.blackbox.kernel.Problem;
import dev.blackbox.kernel.Resource;
import dev.blackbox.ledger.CrashLedgers;
import dev.blackbox.ledger.CutDisk;
import dev.blackbox.ledger.LedgerRefusedException;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnOutcome;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;

/**
 * A server in this process whose world can stop: before and after each write and force of its
 * ledger, at each run of its agent and after each answer to a client it is noted what a successor
 * would find, what the client had been told, and what the agent had done.
 */
final class WritePoints implements Resource {

  static final String MACHINE = "machine-1";

  /** What a client knows of a turn: that it is accepted, or also its end. */
  record Told(TurnKey key, String prompt, Optional<TurnOutcome> outcome) {}

  /**
   * A point.
   *
   * @param killed what the next process finds
   * @param cut what the next boot of the machine finds
   */
  record Point(
      String name,
      Map<String, byte[]> killed,
      Map<String, byte[]> cut,
      List<Told> told,
      List<String> runs) {}

  private static final Set<CutDisk.Operation> WATCHED =
      Set.of(
          CutDisk.Operation.APPEND,
          CutDisk.Operation.FORCE,
          CutDisk.Operation.RENAME,
          CutDisk.Operation.FORCE_DIRECTORY,
          CutDisk.Operation.DATABASE_FORCE);

  private final CutDisk disk;
  private final FakeBackend backend = new FakeBackend();
  private final FakeModelCall model = new FakeModelCall();
  private final Random random;
  private final List<Told> told = new CopyOnWriteArrayList<>();
  private final List<Point> points = new CopyOnWriteArrayList<>();
  private final ControlRig rig;

  WritePoints(Path root, long seed, UnaryOperator<CutDisk> plant)
      throws IOException, LedgerRefusedException {
    random = new Random(seed);
    disk = plant.apply(CutDisk.at(root.resolve("state"), seed));
    disk.observe(
        (operation, name, done) -> {
          if (WATCHED.contains(operation)) {
            point((done ? "after " : "before ") + operation + " " + name);
          }
        });
    backend.onRun = () -> point("the agent runs");
    rig =
        new ControlRig(
            root,
            backend,
            UnaryOperator.identity(),
            CrashLedgers.open(root.resolve("state"), MACHINE, disk));
  }

  private void point(String name) {
    // In this order: what happens meanwhile may be found without having been told or done.
    List<Told> toldBefore = List.copyOf(told);
    List<String> runsBefore = List.copyOf(backend.runs);
    points.add(
        new Point(
            name, disk.afterKill(), disk.afterPowerCut(random.nextLong()), toldBefore, runsBefore));
  }

  List<Point> points() {
    return points;
  }

  RolloutControl control() {
    return rig.control;
  }

  void register() {
    RegisterRequest plain = rig.registration(Map.of());
    rig.control.register(
        new RegisterRequest(
            plain.blackboxType(),
            model.router(),
            plain.routerApiPath(),
            plain.sessionId(),
            plain.instanceId(),
            plain.sandboxId(),
            plain.systemPromptFile(),
            plain.backendOptions(),
            plain.serverConfig()));
    point("told of the registration");
  }

  TurnKey submit(String turnId, String prompt) {
    TurnKey key = rig.submit(turnId, prompt).turn().key();
    told.add(new Told(key, prompt, Optional.empty()));
    point("told that " + turnId + " is queued");
    return key;
  }

  void settled(String turnId, String prompt) {
    TurnView view = rig.settled(turnId);
    told.add(
        new Told(
            view.turn().key(),
            prompt,
            view.turn().settlement().map(settlement -> settlement.outcome())));
    point("told the end of " + turnId);
  }

  void run(String turnId, String prompt) {
    submit(turnId, prompt);
    settled(turnId, prompt);
  }

  void working() throws InterruptedException {
    backend.working.await();
  }

  void command(String command) {
    rig.command(Optional.empty(), command, 10.0);
    point("told the end of a command");
  }

  /** What a client may be refused. */
  void attempt(Runnable request) {
    try {
      request.run();
    } catch (Problem refused) {
      point("refused: " + refused.code());
    }
  }

  @Override
  public void close() {
    rig.close();
    model.close();
    disk.observe((_, _, _) -> {});
    disk.forget();
  }
}
