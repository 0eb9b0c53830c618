package dev.blackbox.ledger;

import dev.blackbox.kernel.InstanceId;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.ledger.LedgerConfig.Sync;
import dev.blackbox.turn.CommandId;
import dev.blackbox.turn.CommandSnapshot;
import dev.blackbox.turn.SessionSnapshot.SystemPrompt;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.turn.TurnOutcome;
import dev.blackbox.turn.Usage;
import dev.blackbox.turn.Work;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Opens ledgers for tests, and looks at their files and rows. */
final class Ledgers {

  static final LedgerFacts.BootStarting BOOT =
      new LedgerFacts.BootStarting("0.1.0", ProcessHandle.current().pid(), "machine-boot");

  private static final List<String> TABLES =
      List.of(
          "boot",
          "config",
          "binding",
          "session",
          "turn",
          "model_call",
          "command",
          "process",
          "event",
          "trimmed",
          "gap");

  private Ledgers() {}

  /** No checkpoint by time or size: the journal keeps every fact. */
  static LedgerConfig config(Path directory) {
    return new LedgerConfig(directory, Sync.POWER, 4096, Long.MAX_VALUE, Duration.ofDays(1), 2);
  }

  static Ledger open(Path directory) throws LedgerRefusedException {
    return Ledger.open(config(directory), BOOT, InstantSource.system());
  }

  static Ledger open(LedgerConfig config, FaultyFiles files) throws LedgerRefusedException {
    files.use(config.directory().toAbsolutePath());
    return open(config, BOOT, files);
  }

  static Ledger open(LedgerConfig config, LedgerFacts.BootStarting boot, JournalFiles files)
      throws LedgerRefusedException {
    StateDirectory directory = StateDirectory.take(config.directory());
    return H2Ledger.open(config, boot, InstantSource.system(), directory, files);
  }

  /** Opens a session of its own, under the newest binding. */
  static long session(Ledger ledger, String name) {
    return ledger.bind(binding(name, OptionalLong.empty())).sessionKey();
  }

  static LedgerFacts.Binding binding(String name, OptionalLong continues) {
    return new LedgerFacts.Binding(
        "rt-" + name,
        "opencode",
        "fp-" + name,
        "{\"blackbox_type\":\"opencode\"}",
        "hash-1",
        "{\"model\":\"m\"}",
        "{\"runtime_id\":\"rt-" + name + "\"}",
        new SessionId(name),
        new InstanceId("inst-1"),
        4711,
        Optional.of(new SystemPrompt("/prompts/p.md", "Be brief. – " + name)),
        continues);
  }

  static LedgerFacts.Admit admit(long session, String turnId, String text) {
    return new LedgerFacts.Admit(
        session,
        Optional.of(turnId).filter(id -> !id.isEmpty()).map(TurnId::new),
        "fingerprint of " + text,
        "[{\"role\":\"user\",\"content\":\"" + text + "\"}]",
        "{}",
        Optional.empty(),
        1000);
  }

  static TurnKey key(long session, String turnId) {
    return new TurnKey(session, new TurnId(turnId));
  }

  static TurnOutcome committed(String text) {
    return new TurnOutcome.Committed(
        new Work(
            "[{\"role\":\"assistant\",\"content\":\"" + text + "\"}]",
            "[{\"event_type\":\"text\"}]",
            new Usage(7, 5, 2, 0, 1, 0),
            "ses_1"));
  }

  /** Admits, starts and commits a turn. */
  static TurnKey runTurn(Ledger ledger, long session, String turnId) {
    TurnKey key = key(session, turnId);
    ledger.admit(admit(session, turnId, turnId));
    ledger.start(key);
    ledger.settle(key, committed("answer to " + turnId));
    return key;
  }

  /** What a crash leaves that takes the database with it: only the journal, in a new directory. */
  static Path journalOnly(Path from, Path to) throws IOException {
    Files.createDirectories(to);
    boolean whole = false;
    // Again, if the server compressed a segment meanwhile.
    while (!whole) {
      List<Path> listed = segments(from);
      try {
        for (Path segment : listed) {
          Files.copy(
              segment, to.resolve(segment.getFileName()), StandardCopyOption.REPLACE_EXISTING);
        }
        whole = listed.equals(segments(from));
      } catch (NoSuchFileException compressed) {
        // Its other form is there now.
      }
    }
    return to;
  }

  static List<Path> segments(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files
          .filter(file -> SegmentHeader.isSegment(file.getFileName().toString()))
          .sorted()
          .toList();
    }
  }

  /** Runs SQL beside a ledger that is open in this process, or on its closed files. */
  static void sql(Path directory, String sql) {
    try (Connection connection = connect(directory);
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
    }
  }

  static Connection connect(Path directory) throws SQLException {
    return DriverManager.getConnection(Database.url(directory.toAbsolutePath()));
  }

  /** All rows of all tables, up to an event, as text. */
  static Map<String, List<String>> dump(Path directory) {
    Map<String, List<String>> dump = new TreeMap<>();
    try (Connection connection = connect(directory);
        Statement statement = connection.createStatement()) {
      for (String table : TABLES) {
        dump.put(table, rows(statement, table));
      }
    } catch (SQLException failure) {
      throw new IllegalStateException(failure);
    }
    return dump;
  }

  private static List<String> rows(Statement statement, String table) throws SQLException {
    List<String> rows = new ArrayList<>();
    try (ResultSet result = statement.executeQuery("SELECT * FROM " + table + " ORDER BY 1, 2")) {
      ResultSetMetaData columns = result.getMetaData();
      while (result.next()) {
        StringBuilder row = new StringBuilder();
        for (int i = 1; i <= columns.getColumnCount(); i++) {
          Object value = result.getObject(i);
          row.append(columns.getColumnName(i)).append('=');
          row.append(value instanceof byte[] bytes ? HexFormat.of().formatHex(bytes) : value);
          row.append(' ');
        }
        rows.add(row.toString());
      }
    }
    return rows;
  }

  /** Admits a command and returns its number. */
  static long command(Ledger ledger, long sessionKey, String commandId) {
    return ledger.admitCommand(commandAdmit(sessionKey, commandId, "echo hi"))
            instanceof LedgerFacts.CommandAdmission.Fresh(CommandSnapshot command)
        ? command.number()
        : -1;
  }

  static LedgerFacts.CommandAdmit commandAdmit(long sessionKey, String commandId, String cmd) {
    return new LedgerFacts.CommandAdmit(
        sessionKey,
        Optional.of(new CommandId(commandId)),
        "fingerprint of " + cmd,
        cmd,
        2.5,
        Optional.empty(),
        16);
  }
}
