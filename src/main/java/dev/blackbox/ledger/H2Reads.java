package dev.blackbox.ledger;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.ledger.LedgerFacts.CallRecord;
import dev.blackbox.ledger.LedgerFacts.ChainReport;
import dev.blackbox.ledger.LedgerFacts.Event;
import dev.blackbox.ledger.LedgerFacts.LeftProcess;
import dev.blackbox.ledger.LedgerFacts.OpenBinding;
import dev.blackbox.ledger.LedgerFacts.SessionCounts;
import dev.blackbox.ledger.Rows.KeyedBinding;
import dev.blackbox.ledger.Rows.Numbered;
import dev.blackbox.turn.CommandId;
import dev.blackbox.turn.CommandSnapshot;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.turn.TurnState;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jdbi.v3.core.Handle;

/** Reads of the rows. */
final class H2Reads implements LedgerReads {

  private static final System.Logger LOG = System.getLogger(H2Reads.class.getName());

  private final Storage storage;
  private final StateDirectory directory;
  private final Writer writer;
  private final Retention retention;

  H2Reads(Storage storage, StateDirectory directory, Writer writer, Retention retention) {
    this.storage = storage;
    this.directory = directory;
    this.writer = writer;
    this.retention = retention;
  }

  @Override
  public Optional<SessionSnapshot> session(SessionId id) {
    return read(rows -> Rows.session(rows, id));
  }

  @Override
  public Optional<SessionSnapshot> session(long sessionKey) {
    return storage.recent().session(sessionKey, () -> read(rows -> Rows.session(rows, sessionKey)));
  }

  @Override
  public Optional<TurnSnapshot> turn(TurnKey turn) {
    return storage.recent().turn(turn, () -> read(rows -> Rows.turn(rows, turn)));
  }

  @Override
  public Optional<LedgerFacts.TrimmedSession> trimmed(SessionId id) {
    return read(rows -> TrimRows.session(rows, id));
  }

  @Override
  public Optional<LedgerFacts.TrimmedTurn> trimmed(TurnKey turn) {
    return read(rows -> TrimRows.turn(rows, turn));
  }

  @Override
  public String metadataJson(TurnKey turn) {
    return read(rows -> Rows.metadataJson(rows, turn)).orElse("{}");
  }

  @Override
  public Optional<TurnSnapshot> activeTurn(long sessionKey) {
    return read(rows -> Rows.activeTurn(rows, sessionKey));
  }

  @Override
  public Optional<TurnSnapshot> queued(long sessionKey) {
    return activeTurn(sessionKey).filter(turn -> turn.state() == TurnState.QUEUED);
  }

  @Override
  public Optional<TurnSnapshot> latestTurn(long sessionKey) {
    return read(rows -> Rows.latestTurn(rows, sessionKey));
  }

  @Override
  public void forEachTurn(long sessionKey, Consumer<TurnSnapshot> reader) {
    int number = 0;
    while (true) {
      int after = number;
      Optional<Numbered> next = read(rows -> Rows.turnAfter(rows, sessionKey, after));
      if (next.isEmpty()) {
        return;
      }
      number = next.get().number();
      reader.accept(next.get().turn());
    }
  }

  @Override
  public Optional<CommandSnapshot> command(long sessionKey, CommandId id) {
    return read(rows -> CommandRows.named(rows, sessionKey, id));
  }

  @Override
  public Optional<CommandSnapshot> command(long commandNumber) {
    return read(rows -> CommandRows.numbered(rows, commandNumber));
  }

  @Override
  public List<CommandSnapshot> queuedCommands(long sessionKey) {
    return read(rows -> CommandRows.queued(rows, sessionKey));
  }

  @Override
  public List<CommandSnapshot> commands(long sessionKey, long afterNumber, int countMax) {
    return read(rows -> CommandRows.page(rows, sessionKey, afterNumber, countMax));
  }

  @Override
  public List<CallRecord> calls(TurnKey turn) {
    return read(rows -> CallRows.calls(rows, turn));
  }

  @Override
  public Optional<CallRecord> call(String callId) {
    return read(rows -> CallRows.namedCall(rows, callId));
  }

  @Override
  public Optional<OpenBinding> openBinding() {
    return read(Rows::openBinding).map(KeyedBinding::open);
  }

  @Override
  public Optional<Integer> lastProxyPort() {
    return read(
        rows ->
            Sql.first(
                rows,
                """
                SELECT proxy_port FROM binding
                WHERE binding_key = (SELECT MAX(binding_key) FROM binding)\
                """,
                row -> row.getInt(1)));
  }

  @Override
  public SessionCounts sessionCounts() {
    return read(
        rows ->
            rows.createQuery(
                    """
                    SELECT COUNT(CASE WHEN state = 'active' THEN 1 END) AS active,
                      COUNT(CASE WHEN state = 'desynced' THEN 1 END) AS desynced,
                      COUNT(CASE WHEN state = 'aborted' THEN 1 END) AS aborted
                    FROM session WHERE binding_key = (SELECT MAX(binding_key) FROM binding)\
                    """)
                .map(
                    (row, _) ->
                        new SessionCounts(
                            row.getInt("active"), row.getInt("desynced"), row.getInt("aborted")))
                .one());
  }

  @Override
  public List<LeftProcess> leftProcesses() {
    return read(
        rows ->
            Sql.list(
                rows,
                """
                SELECT * FROM process
                WHERE open_boot >= 0 AND open_boot < (SELECT MAX(boot) FROM boot)
                ORDER BY started_at, pid\
                """,
                row ->
                    new LeftProcess(
                        row.getLong("boot"),
                        row.getString("kind"),
                        row.getLong("pid"),
                        row.getLong("start_ticks"),
                        row.getString("machine_boot_id"))));
  }

  @Override
  public List<Event> events(long fromSequence, int countMax) {
    return read(
        rows -> Rows.events(rows, fromSequence, countMax).map((row, _) -> Rows.event(row)).list());
  }

  @Override
  public ChainReport verify() {
    return Verification.run(this::read, storage::head);
  }

  @Override
  public long bytesOnDisk() {
    return DiskUses.bytes(directory);
  }

  @Override
  public LedgerFacts.DiskUse diskUse() {
    return read(rows -> DiskUses.now(rows, directory, retention));
  }

  private <T> T confirmed(Database database, Function<Handle, T> body) {
    T found = database.read(body);
    storage.confirmRead(database);
    return found;
  }

  /** A read that meets a database being opened again is tried once on the new one. */
  private <T> T read(Function<Handle, T> body) {
    Database seen = storage.database();
    try {
      return confirmed(seen, body);
    } catch (Problem tooMany) {
      throw tooMany;
    } catch (RuntimeException failure) {
      Database now = storage.database();
      if (now != seen) {
        return confirmed(now, body);
      }
      LOG.log(System.Logger.Level.WARNING, "a read failed: {0}", Storage.rootMessage(failure));
      writer.check(failure);
      throw new Problem(
          ErrorCode.SERVICE_UNAVAILABLE,
          "The ledger's database cannot be read at the moment; try again.",
          Map.of(),
          failure);
    }
  }
}
