package dev.blackbox.ledger;

import dev.blackbox.kernel.Problem;
import dev.blackbox.turn.CommandSnapshot;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.TurnSnapshot;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** The ledger: hands every verb to the writer. */
final class H2Ledger implements Ledger {

  private static final System.Logger LOG = System.getLogger(H2Ledger.class.getName());

  private final Opening opening;
  private final Writer writer;
  private final Keeper keeper;
  private final SlotVerbs.Opened opened;
  private final AtomicBoolean closed = new AtomicBoolean();

  private H2Ledger(
      Opening opening, SlotVerbs.Opened opened, Compaction compaction, Trimming trimming) {
    this.opening = opening;
    this.keeper = Keeper.start(compaction, trimming);
    opening.storage().onSegment(keeper::wake);
    this.writer = opening.writer();
    this.opened = opened;
  }

  static Ledger open(LedgerConfig config, LedgerFacts.BootStarting boot, InstantSource clock)
      throws LedgerRefusedException {
    StateDirectory directory = StateDirectory.take(config.directory());
    return open(config, boot, clock, directory, JournalFiles.in(directory.path()));
  }

  /**
   * Takes over {@code directory}: it is closed with the ledger, or at once if that will not open.
   */
  static Ledger open(
      LedgerConfig config,
      LedgerFacts.BootStarting boot,
      InstantSource clock,
      StateDirectory directory,
      JournalFiles files)
      throws LedgerRefusedException {
    Opening open = Opening.open(config, boot.machineBootId(), clock, directory, files);
    boolean good = false;
    try {
      SlotVerbs.Opened opened = open.writer.run(batch -> SlotVerbs.bootStarted(batch, boot));
      good = true;
      Compaction compaction = new Compaction(files, directory.path());
      return new H2Ledger(
          open,
          opened,
          compaction,
          new Trimming(
              config.retention(), open.storage, directory, open.writer, clock, compaction));
    } catch (Problem unwritten) {
      throw StateDirectory.notWritable(directory.path(), unwritten.text(), unwritten);
    } finally {
      if (!good) {
        open.close();
      }
    }
  }

  static Inspection inspect(LedgerConfig config, String machineBootId, InstantSource clock)
      throws LedgerRefusedException {
    StateDirectory directory = StateDirectory.take(config.directory());
    return Opening.open(config, machineBootId, clock, directory, JournalFiles.in(directory.path()));
  }

  /** What is open, whoever it is for. */
  private record Opening(
      StateDirectory directory, Storage storage, Writer writer, LedgerReads reads)
      implements Inspection {

    static Opening open(
        LedgerConfig config,
        String machineBootId,
        InstantSource clock,
        StateDirectory directory,
        JournalFiles files)
        throws LedgerRefusedException {
      boolean good = false;
      try {
        Storage storage = StorageOpening.open(config, directory, files, machineBootId);
        Writer writer = Writer.start(storage, clock, config.queueMax());
        good = true;
        return new Opening(
            directory,
            storage,
            writer,
            new H2Reads(storage, directory, writer, config.retention()));
      } finally {
        if (!good) {
          directory.close();
        }
      }
    }

    @Override
    public void close() {
      writer.stop();
      directory.close();
    }
  }

  @Override
  public String trouble() {
    return opening.storage().trouble();
  }

  @Override
  public boolean isClosed() {
    return closed.get();
  }

  @Override
  public long boot() {
    return opened.boot();
  }

  @Override
  public String id() {
    return opened.ledgerId();
  }

  @Override
  public Optional<String> putRight() {
    return opening.storage().putRight();
  }

  @Override
  public LedgerReads reads() {
    return opening.reads();
  }

  @Override
  public LedgerFacts.Recovered recover() {
    return writer.run(batch -> Recovery.recover(batch, boot(), opening.storage().factsApplied()));
  }

  @Override
  public LedgerFacts.Bound bind(LedgerFacts.Binding binding) {
    return writer.run(batch -> SlotVerbs.bind(batch, boot(), binding));
  }

  @Override
  public boolean unbind(String runtimeId, String reason) {
    return writer.run(batch -> SlotVerbs.unbind(batch, runtimeId, reason));
  }

  @Override
  public void bindingState(String runtimeId, String state, String reason) {
    record(batch -> SlotVerbs.bindingState(batch, runtimeId, state, reason));
  }

  @Override
  public void pause(String runtimeId, LedgerFacts.Pause pause) {
    record(batch -> SlotVerbs.pause(batch, runtimeId, pause));
  }

  @Override
  public void backendSession(long sessionKey, String backendSessionId) {
    record(batch -> TurnVerbs.backendSession(batch, sessionKey, backendSessionId));
  }

  @Override
  public LedgerFacts.Admission admit(LedgerFacts.Admit admit) {
    return writer.run(batch -> TurnVerbs.admit(batch, boot(), admit));
  }

  @Override
  public boolean start(TurnKey turn) {
    return writer.run(batch -> TurnVerbs.start(batch, boot(), turn));
  }

  @Override
  public TurnSnapshot requestCancel(TurnKey turn) {
    return writer.run(batch -> TurnVerbs.requestCancel(batch, turn));
  }

  @Override
  public TurnSnapshot settle(TurnKey turn, TurnOutcome outcome) {
    return writer.run(batch -> TurnVerbs.settle(batch, turn, outcome));
  }

  @Override
  public boolean desync(long sessionKey, String reason) {
    return writer.run(batch -> TurnVerbs.desync(batch, sessionKey, reason));
  }

  @Override
  public boolean abort(long sessionKey, String reason) {
    return writer.run(batch -> TurnVerbs.abort(batch, sessionKey, reason));
  }

  @Override
  public LedgerFacts.CommandAdmission admitCommand(LedgerFacts.CommandAdmit admit) {
    return writer.run(batch -> CommandVerbs.admit(batch, boot(), admit));
  }

  @Override
  public boolean beginCommand(long commandNumber) {
    return writer.run(batch -> CommandVerbs.begin(batch, boot(), commandNumber));
  }

  @Override
  public CommandSnapshot endCommand(long commandNumber, LedgerFacts.CommandEnd end) {
    return writer.run(batch -> CommandVerbs.end(batch, commandNumber, end));
  }

  @Override
  public void processStarted(LedgerFacts.ProcessStart process) {
    record(batch -> SlotVerbs.processStarted(batch, boot(), process));
  }

  @Override
  public boolean processEnded(LedgerFacts.ProcessEnd process) {
    return writer.run(batch -> SlotVerbs.processEnded(batch, process));
  }

  @Override
  public void note(LedgerFacts.CallFact call) {
    writer.note(call);
  }

  private void record(Consumer<Batch> verb) {
    writer.run(
        batch -> {
          verb.accept(batch);
          return Boolean.TRUE;
        });
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      try {
        record(batch -> SlotVerbs.bootEnded(batch, boot()));
      } catch (Problem unwritten) {
        LOG.log(
            System.Logger.Level.WARNING,
            "the end of this boot is not recorded: {0}",
            unwritten.text());
      } finally {
        keeper.close();
        opening.close();
      }
    }
  }
}
