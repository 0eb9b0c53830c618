package dev.blackbox.control;

import dev.blackbox.control.Rollout.RegisterRequest;
import dev.blackbox.control.Rollout.TurnView;
import dev.blackbox.kernel.Problem;
import dev.blackbox.kernel.Resource;
import dev.blackbox.ledger.CrashLedgers;
import dev.blackbox.ledger.CutDisk;
import dev.blackbox.ledger.LedgerRefusedException;
import dev.blackbox.turn.CommandId;
import dev.blackbox.turn.CommandSnapshot;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnOutcome;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
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

  /** Turns that a session may have (P10). */
  static final int TURNS_MAX = 3;

  /** Each command adds its id to it. */
  static final String COMMANDS = "commands";

  /** What a client knows of a turn: that it is accepted, or also its end. */
  record Told(TurnKey key, String prompt, Optional<TurnOutcome> outcome) {}

  /** What a client knows of a command: that it is accepted, or also what came of it. */
  record ToldCommand(long sessionKey, CommandId id, Optional<String> resultJson) {}

  /**
   * What clients were told, and what agent and shell had done.
   *
   * @param paused whether a client was told that the agent is paused, and none has asked for more
   */
  record Known(
      List<Told> turns,
      List<ToldCommand> commands,
      boolean paused,
      List<String> runs,
      List<String> ranCommands) {}

  /**
   * A point.
   *
   * @param killed what the next process finds
   * @param cut what the next boot of the machine finds
   */
  record Point(String name, Map<String, byte[]> killed, Map<String, byte[]> cut, Known known) {}

  private static final Set<CutDisk.Operation> WATCHED =
      Set.of(
          CutDisk.Operation.APPEND,
          CutDisk.Operation.FORCE,
          CutDisk.Operation.RENAME,
          CutDisk.Operation.FORCE_DIRECTORY,
          CutDisk.Operation.DATABASE_FORCE);

  private final CutDisk disk;
  private final FakeBackend backend = new FakeBackend();
  private final FakeModelCall model;
  private final Path commands;
  private final Random random;
  private final List<Told> told = new CopyOnWriteArrayList<>();
  private final List<ToldCommand> toldCommands = new CopyOnWriteArrayList<>();
  private volatile boolean toldPaused;
  private final List<Point> points = new CopyOnWriteArrayList<>();
  private final ControlRig rig;

  /**
   * @param model has to live as long as the successors that are asked to go on
   */
  WritePoints(Path root, long seed, UnaryOperator<CutDisk> plant, FakeModelCall model)
      throws IOException, LedgerRefusedException {
    this.model = model;
    commands = root.resolve(COMMANDS);
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
            WritePoints::bounded,
            CrashLedgers.open(root.resolve("state"), MACHINE, disk));
  }

  static ServerSettings bounded(ServerSettings base) {
    return SettingOverrides.apply(base, Map.of("max_turns", TURNS_MAX));
  }

  private void point(String name) {
    // In this order: what happens meanwhile may be found without having been told or done.
    Known known =
        new Known(
            List.copyOf(told),
            List.copyOf(toldCommands),
            toldPaused,
            List.copyOf(backend.runs),
            lines(commands));
    points.add(new Point(name, disk.afterKill(), disk.afterPowerCut(random.nextLong()), known));
  }

  /** Whole lines only: a shell may be writing one. */
  static List<String> lines(Path file) {
    try {
      return Files.exists(file) ? Files.readAllLines(file) : List.of();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
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

  /** Accepts a command that leaves its id behind. */
  CommandSnapshot execute(String id) {
    CommandSnapshot command =
        rig.execute(Optional.of(id), "echo " + id + " >> '" + commands + "'", 10.0).command();
    toldCommands.add(
        new ToldCommand(command.sessionKey(), command.commandId().orElseThrow(), Optional.empty()));
    point("told that " + id + " is queued");
    return command;
  }

  void ended(CommandSnapshot command) {
    CommandSnapshot end = rig.ended(command);
    toldCommands.add(
        new ToldCommand(command.sessionKey(), command.commandId().orElseThrow(), end.resultJson()));
    point("told the end of a command");
  }

  void pause() {
    rig.control.pause("weights", Optional.of(5.0));
    toldPaused = true;
    point("told that it is paused");
  }

  void resume() {
    toldPaused = false;
    rig.control.resume("weights", Optional.of("v2"));
    point("told that it is resumed");
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
    disk.observe((_, _, _) -> {});
    disk.forget();
  }
}
