package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.nio.file.Path;
import org.jdbi.v3.core.Handle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * What is said when a statement fails: never the values that it was given, which may be prompts and
 * answers.
 */
@ExtendWith(QuietLog.class)
class QuietFailureTest {

  private static final String SECRET = "prompt-55c1";

  @TempDir Path directory;

  @Test
  void aFailedStatementDoesNotTellItsArguments() throws Exception {
    Ledgers.open(directory).close();
    Database database =
        Database.open(
            directory,
            StateDirectory.DATABASE,
            JournalFiles.in(directory),
            LedgerConfig.at(directory));
    try {
      Throwable failure =
          catchThrowable(
              () ->
                  database.read(
                      (Handle handle) ->
                          handle
                              .createQuery("SELECT count(*) FROM no_such_table WHERE x = :value")
                              .bind("value", SECRET)
                              .mapTo(Long.class)
                              .one()));
      assertThat(failure).isNotNull();
      for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
        assertThat(cause.toString()).doesNotContain(SECRET);
      }
      assertThat(failure).hasStackTraceContaining("NO_SUCH_TABLE");
    } finally {
      database.close();
    }
  }
}
