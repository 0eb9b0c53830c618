package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.kernel.SessionId;
import dev.blackbox.turn.CommandId;
import dev.blackbox.turn.TurnKey;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every statement of the ledger finds its rows by an index, so that none takes longer the more
 * turns there are. All that is asked during a life of everything is taken from H2's own statistics,
 * and H2 is asked how it answers it.
 */
class PlansTest {

  private static final int TURNS = 1_000;

  /** What H2 says of a table: where its rows come from, and by which conditions. */
  private static final Pattern ACCESS =
      Pattern.compile("/\\* PUBLIC\\.([^*]*?)\\*/(?:\\s*/\\* (direct lookup) \\*/)?");

  private static final LedgerFacts.ProcessStart PROCESS =
      new LedgerFacts.ProcessStart("agent", 12, 34, "machine-boot");

  @TempDir Path temp;

  @Test
  void noStatementReadsAWholeTable() throws Exception {
    ManyTurns.make(temp, TURNS);
    LedgerConfig config = LedgerConfig.at(temp);
    try (StateDirectory directory = StateDirectory.take(temp)) {
      Storage storage =
          StorageOpening.open(
              config, directory, JournalFiles.in(directory.path()), Ledgers.BOOT.machineBootId());
      Handle rows = storage.database().writer();
      rows.execute("SET QUERY_STATISTICS_MAX_ENTRIES 10000");
      rows.execute("SET QUERY_STATISTICS TRUE");
      Writer writer = Writer.start(storage, InstantSource.system(), 64);
      try {
        TurnKey turn = verbs(writer);
        reads(new H2Reads(storage, directory, writer, config.retention()), turn);
      } finally {
        List<String> wrong = new ArrayList<>(storage.database().read(PlansTest::allWrong));
        // With statistics H2 may choose other plans.
        storage.database().read(handle -> handle.execute("ANALYZE"));
        wrong.addAll(storage.database().read(PlansTest::allWrong));
        writer.stop();
        assertThat(wrong).isEmpty();
      }
    }
  }

  private static TurnKey verbs(Writer writer) {
    SlotVerbs.Opened boot = run(writer, batch -> SlotVerbs.bootStarted(batch, Ledgers.BOOT));
    LedgerFacts.Bound bound =
        run(
            writer,
            batch ->
                SlotVerbs.bind(batch, boot.boot(), Ledgers.binding("s", OptionalLong.empty())));
    long session = bound.sessionKey();
    TurnKey turn = Ledgers.key(session, "t-1");
    run(writer, batch -> TurnVerbs.admit(batch, boot.boot(), Ledgers.admit(session, "t-1", "x")));
    run(writer, batch -> TurnVerbs.start(batch, boot.boot(), turn));
    writer.note(RebuildTest.call("call-1", turn, 0));
    writer.note(RebuildTest.callEnd("call-1"));
    run(writer, batch -> TurnVerbs.requestCancel(batch, turn));
    run(writer, batch -> TurnVerbs.settle(batch, turn, Ledgers.committed("y")));
    run(writer, batch -> Recovery.recover(batch, boot.boot(), 0));
    commands(writer, boot.boot(), session);
    run(
        writer,
        batch -> {
          SlotVerbs.processStarted(batch, boot.boot(), PROCESS);
          SlotVerbs.pause(
              batch, bound.runtimeId(), new LedgerFacts.Pause(true, "", Optional.empty()));
          SlotVerbs.bindingState(batch, bound.runtimeId(), "error", "");
          TurnVerbs.backendSession(batch, session, "ses_1");
          return SlotVerbs.processEnded(
              batch, new LedgerFacts.ProcessEnd(12, 34, "machine-boot", 0));
        });
    run(writer, batch -> TurnVerbs.desync(batch, session, "why"));
    run(writer, batch -> TurnVerbs.abort(batch, session, "why"));
    run(writer, batch -> SlotVerbs.unbind(batch, bound.runtimeId(), "why"));
    for (int trimmed = 0; trimmed < 2; trimmed++) {
      OptionalLong key =
          run(
              writer,
              batch -> TrimVerbs.oldest(batch, Instant.parse("9999-01-01T00:00:00Z"), "age"));
      run(
          writer,
          batch -> {
            TrimVerbs.erased(batch, key.orElseThrow());
            return key;
          });
    }
    return turn;
  }

  private static void commands(Writer writer, long boot, long session) {
    for (int i = 0; i < 2; i++) {
      LedgerFacts.CommandAdmit admit =
          new LedgerFacts.CommandAdmit(
              session, Optional.of(new CommandId("c-" + i)), "fp", "true", 1, Optional.empty(), 9);
      run(writer, batch -> CommandVerbs.admit(batch, boot, admit));
    }
    run(writer, batch -> CommandVerbs.begin(batch, boot, 1));
    run(
        writer,
        batch ->
            CommandVerbs.end(
                batch, 1, LedgerFacts.CommandEnd.ended(OptionalInt.of(0), false, "{}")));
  }

  private static <T> T run(Writer writer, Function<Batch, T> verb) {
    return writer.run(verb);
  }

  private static void reads(H2Reads reads, TurnKey turn) {
    long session = turn.sessionKey();
    reads.session(new SessionId("sess-7"));
    reads.session(7);
    reads.turn(Ledgers.key(7, "t-7"));
    reads.trimmed(new SessionId("sess-1"));
    reads.trimmed(Ledgers.key(1, "t-7"));
    reads.metadataJson(turn);
    reads.activeTurn(session);
    reads.latestTurn(session);
    reads.forEachTurn(7, _ -> {});
    reads.command(session, new CommandId("c-1"));
    reads.command(1);
    reads.queuedCommands(session);
    reads.commands(session, 0, 10);
    reads.calls(turn);
    reads.openBinding();
    reads.lastProxyPort();
    reads.sessionCounts();
    reads.leftProcesses();
    reads.events(1000, 10);
    assertThat(reads.verify().problems()).isEmpty();
  }

  private static List<String> statements(Handle handle) {
    List<String> all =
        Sql.list(
            handle,
            "SELECT SQL_STATEMENT FROM INFORMATION_SCHEMA.QUERY_STATISTICS ORDER BY SQL_STATEMENT",
            row -> row.getString(1));
    assertThat(all.size()).as("statements").isGreaterThan(50);
    return all.stream()
        .filter(
            sql -> sql.startsWith("SELECT") || sql.startsWith("UPDATE") || sql.startsWith("DELETE"))
        .filter(sql -> !sql.contains("INFORMATION_SCHEMA"))
        .toList();
  }

  private static List<String> allWrong(Handle handle) {
    return statements(handle).stream().flatMap(sql -> wrong(handle, sql).stream()).toList();
  }

  private static List<String> wrong(Handle handle, String sql) {
    String plan = plan(handle, sql);
    List<String> wrong = new ArrayList<>();
    Matcher access = ACCESS.matcher(plan);
    while (access.find()) {
      boolean bounded = access.group(1).contains(":") || access.group(2) != null;
      if (!bounded) {
        wrong.add(access.group(1).strip() + " in: " + sql + "\n" + plan);
      }
    }
    return wrong;
  }

  private static String plan(Handle handle, String sql) {
    int parameters = (int) sql.chars().filter(c -> c == '?').count();
    Object[] values = new Object[parameters];
    return Sql.first(handle, "EXPLAIN " + sql, row -> row.getString(1), values).orElseThrow();
  }
}
