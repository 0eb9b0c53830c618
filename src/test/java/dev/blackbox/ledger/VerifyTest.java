package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** P11: whoever changes the past is found out. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class VerifyTest {

  private Ledger ledger;
  private Path state;

  @BeforeAll
  void open(@TempDir Path temp) throws LedgerRefusedException {
    state = temp.resolve("state");
    ledger = Ledgers.open(state);
    RebuildTest.firstBoot(ledger);
    ledger.desync(1, "agent died");
    RebuildTest.secondBoot(ledger);
  }

  @AfterAll
  void close() {
    ledger.close();
  }

  private List<String> problems() {
    return ledger.reads().verify().problems();
  }

  @Test
  void p11AWholeHistoryHasNoProblems() {
    LedgerFacts.ChainReport report = ledger.reads().verify();
    assertThat(report.problems()).isEmpty();
    assertThat(report.events()).isEqualTo(report.lastSequence()).isGreaterThan(25);
    assertThat(report.firstSequence()).isEqualTo(1);
    LedgerFacts.Event last = ledger.reads().events(report.lastSequence(), 1).getFirst();
    assertThat(report.lastHash()).isEqualTo(last.hash());
  }

  /** Table, body column: every one that holds a body, in a row that has one. */
  static Stream<Arguments> bodies() {
    return FactCodec.SHAPES.stream()
        .filter(shape -> shape.fact() != Fact.SessionTrimmed.class) // TrimTest
        .flatMap(
            shape -> shape.bodies().stream().map(body -> Arguments.of(shape.home().table(), body)));
  }

  @ParameterizedTest
  @MethodSource("bodies")
  void p11AChangedBodyIsFound(String table, String column) {
    assertThat(problems()).isEmpty();
    Ledgers.sql(state, "CREATE TABLE saved AS SELECT * FROM " + table);
    try {
      Ledgers.sql(state, "UPDATE " + table + " SET " + column + " = " + column + " || ' '");
      assertThat(problems())
          .isNotEmpty()
          .allSatisfy(problem -> assertThat(problem).contains(column + " in " + table));
    } finally {
      restore(table, column);
    }
    assertThat(problems()).isEmpty();
  }

  private void restore(String table, String column) {
    String key =
        switch (table) {
          case "config" -> "t.config_hash = s.config_hash";
          case "binding" -> "t.binding_key = s.binding_key";
          case "session" -> "t.session_key = s.session_key";
          case "turn" -> "t.session_key = s.session_key AND t.turn_id = s.turn_id";
          case "command" -> "t.command_number = s.command_number";
          case "model_call" -> "t.call_id = s.call_id";
          default -> throw new IllegalStateException(table);
        };
    Ledgers.sql(
        state,
        "UPDATE %s t SET %s = (SELECT s.%s FROM saved s WHERE %s)"
            .formatted(table, column, column, key));
    Ledgers.sql(state, "DROP TABLE saved");
  }

  @ParameterizedTest
  @MethodSource("changes")
  void p11AChangedEventIsFound(String change, String problem) {
    assertThat(problems()).isEmpty();
    Ledgers.sql(state, "CREATE TABLE saved AS SELECT * FROM event");
    try {
      Ledgers.sql(state, change);
      assertThat(problems()).anySatisfy(found -> assertThat(found).isEqualTo(problem));
    } finally {
      Ledgers.sql(state, "DELETE FROM event");
      Ledgers.sql(state, "INSERT INTO event SELECT * FROM saved");
      Ledgers.sql(state, "DROP TABLE saved");
    }
    assertThat(problems()).isEmpty();
  }

  static Stream<Arguments> changes() {
    return Stream.of(
        Arguments.of(
            "UPDATE event SET head = REPLACE(head, 'rt-sess-1', 'rt-sess-2') WHERE sequence = 3",
            "event 3: the hash does not continue the chain"),
        Arguments.of(
            "UPDATE event SET hash = (SELECT hash FROM saved WHERE sequence = 4)"
                + " WHERE sequence = 5",
            "event 5: the hash does not continue the chain"),
        Arguments.of(
            "DELETE FROM event WHERE sequence = 7", "event 7: events are missing from here to 7"),
        Arguments.of(
            "DELETE FROM event WHERE sequence <= 2", "event 1: events are missing from here to 2"));
  }

  @Test
  void p11EventsRemovedAtTheEndAreFound() {
    long last = ledger.reads().verify().lastSequence();
    Ledgers.sql(state, "CREATE TABLE saved AS SELECT * FROM event");
    try {
      Ledgers.sql(state, "DELETE FROM event WHERE sequence >= " + (last - 1));
      assertThat(problems())
          .containsExactly("event " + (last - 1) + ": events are missing from here to " + last);
    } finally {
      Ledgers.sql(state, "INSERT INTO event SELECT * FROM saved WHERE sequence >= " + (last - 1));
      Ledgers.sql(state, "DROP TABLE saved");
    }
    assertThat(problems()).isEmpty();
  }

  @Test
  void p11ARemovedRowIsFound() {
    Ledgers.sql(state, "CREATE TABLE saved AS SELECT * FROM model_call");
    try {
      Ledgers.sql(state, "DELETE FROM model_call");
      assertThat(problems())
          .singleElement()
          .asString()
          .contains("error is missing from model_call");
    } finally {
      String columns =
          """
          call_id, session_key, turn_id, step, dialect, stream, model, request_bytes, arrived_at,
          first_byte_at, ended_at, status, verdict, response_bytes, prompt_tokens,
          completion_tokens, reasoning_tokens, cached_tokens, tool_calls, finish_reason, error\
          """;
      Ledgers.sql(
          state, "INSERT INTO model_call (%s) SELECT %s FROM saved".formatted(columns, columns));
      Ledgers.sql(state, "DROP TABLE saved");
    }
    assertThat(problems()).isEmpty();
  }
}
