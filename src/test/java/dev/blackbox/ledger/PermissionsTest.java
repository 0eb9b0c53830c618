package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Files and directories of a ledger that its server may not read or write. Where this runs as root,
 * whom no permission stops, the child that opens the ledgers is started through {@code setpriv}
 * without the two capabilities that make it so; where there is no {@code setpriv}, it is not run,
 * and says so.
 */
@Timeout(120)
class PermissionsTest {

  private static final int TURNS = 3;

  @TempDir Path temp;

  /** What is taken away, and what is then to be said; or that it is put right. */
  private enum Case {
    DIRECTORY_NOT_WRITABLE("", "r-x------", "no permission to write there"),
    DIRECTORY_CLOSED("", "---------", "no permission to write there"),
    SEGMENT_NOT_READABLE("journal-", "---------", "give this user access to it"),
    DATABASE_NOT_READABLE("ledger.mv.db", "---------", "AccessDenied"),
    MARK_NOT_READABLE("ledger.mark", "---------", "AccessDenied"),
    LOCK_NOT_WRITABLE("ledger.lock", "r--------", "AccessDenied");

    private final String name;
    private final String mode;
    private final String said;

    Case(String name, String mode, String said) {
      this.name = name;
      this.mode = mode;
      this.said = said;
    }
  }

  @Test
  void whatMayNotBeReadOrWrittenIsSaidAndNothingIsLostWhenItMayBeAgain() throws Exception {
    List<String> words = new ArrayList<>();
    if ("root".equals(System.getProperty("user.name"))) {
      Path setpriv = Path.of("/usr/bin/setpriv");
      if (!Files.isExecutable(setpriv)) {
        System.out.println("not run, because root may read everything and there is no setpriv");
      }
      assumeThat(setpriv).as("setpriv, to be stopped by permissions though root").isExecutable();
      words.addAll(List.of(setpriv.toString(), "--bounding-set=-dac_override,-dac_read_search"));
    }
    words.addAll(ChildLedger.command(List.of(), PermissionsTest.class, temp.toString()));
    Process child = new ProcessBuilder(words).redirectErrorStream(true).start();
    List<String> lines =
        new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
            .lines()
            .filter(line -> line.startsWith("case "))
            .toList();
    assertThat(child.waitFor()).isZero();
    assertThat(lines).hasSize(Case.values().length);
    for (Case each : Case.values()) {
      assertThat(lines)
          .filteredOn(line -> line.startsWith("case " + each + ": "))
          .singleElement()
          .asString()
          .contains(each.said)
          .endsWith("whole afterwards");
    }
  }

  /** The process that permissions stop: one line for each case. */
  public static void main(String[] arguments) throws Exception {
    for (Case each : Case.values()) {
      Path state = Path.of(arguments[0]).resolve(each.name());
      try (Ledger ledger = Ledgers.open(state)) {
        long session = Ledgers.session(ledger, "sess-1");
        for (int turn = 0; turn < TURNS; turn++) {
          Ledgers.runTurn(ledger, session, "t-" + turn);
        }
      }
      Path closed = each.name.isEmpty() ? state : found(state, each.name);
      var open = Files.getPosixFilePermissions(closed);
      Files.setPosixFilePermissions(closed, PosixFilePermissions.fromString(each.mode));
      String first = attempt(state);
      String second = attempt(state);
      Files.setPosixFilePermissions(closed, open);
      System.out.println(
          "case "
              + each.name()
              + ": "
              + first
              + (first.equals(second) ? "; " : "; then " + second + "; ")
              + (attempt(state).endsWith("whole") ? "whole afterwards" : "lost"));
    }
  }

  private static Path found(Path state, String beginning) throws IOException {
    try (Stream<Path> files = Files.list(state)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith(beginning))
          .findFirst()
          .orElseThrow();
    }
  }

  private static String attempt(Path state) {
    try (Ledger ledger = Ledgers.open(state)) {
      int answers = ledger.reads().session(1).orElseThrow().committedTurns();
      boolean whole = answers == TURNS && ledger.reads().verify().problems().isEmpty();
      return "opened " + ledger.putRight().orElse("") + (whole ? " whole" : " in part");
    } catch (LedgerRefusedException refused) {
      return refused.reason() + " " + refused.getMessage();
    }
  }
}
