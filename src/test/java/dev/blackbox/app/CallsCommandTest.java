package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.kernel.InstanceId;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.ledger.Ledger;
import dev.blackbox.ledger.LedgerConfig;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.proxy.CaptureDecision;
import dev.blackbox.turn.TurnKey;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code bbs ledger calls} prints, and what backups do with bodies of calls. */
class CallsCommandTest {

  private static final String KEPT = "0b0cde5c-6ea0-4b4c-9a2c-000000000001";
  private static final String LATER = "0b0cde5c-6ea0-4b4c-9a2c-000000000002";
  private static final String GONE = "0b0cde5c-6ea0-4b4c-9a2c-000000000003";
  private static final String UNKNOWN = "0b0cde5c-6ea0-4b4c-9a2c-999999999999";

  @TempDir private Path temp;
  private Path state;
  private Path captures;

  @BeforeEach
  void kept() throws IOException {
    state = temp.resolve("state");
    captures = Files.createDirectories(state.resolve("captures"));
    keep(KEPT, 1_000);
    keep(LATER, 2_000);
    Files.writeString(captures.resolve("dropped"), "3");
    Files.writeString(
        captures.resolve("gone"),
        "2026-12-01T02:03:04Z deleted " + GONE + "\n2026-12-01T02:03:05Z lost " + KEPT + " no\n");
  }

  private void keep(String id, long millis) throws IOException {
    Path file = captures.resolve(id + ".call.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
      out.write(
          ("{\"call_id\":\"" + id + "\"}\nasked é\nanswered").getBytes(StandardCharsets.UTF_8));
    }
    assertThat(file.toFile().setLastModified(millis)).isTrue();
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
  }

  private Printed calls(String... more) {
    String[] arguments = new String[more.length + 3];
    arguments[0] = "calls";
    arguments[1] = "--state-dir";
    arguments[2] = state.toString();
    System.arraycopy(more, 0, arguments, 3, more.length);
    return Printed.by(arguments);
  }

  @Test
  void theyAreListedTheOldestFirstAndShownAlsoWhileTheLedgerIsInUse() {
    try (LedgerInspection _ = LedgerInspection.open(LedgerConfig.at(state))) {
      assertThat(calls())
          .isEqualTo(
              new Printed(
                  ExitCode.OK,
                  "{\"call_id\":\"" + KEPT + "\"}\n{\"call_id\":\"" + LATER + "\"}\n",
                  "3 calls could not be kept.\n"));
      assertThat(calls("--body", KEPT))
          .isEqualTo(
              new Printed(ExitCode.OK, "{\"call_id\":\"" + KEPT + "\"}\nasked é\nanswered", ""));
      assertThat(calls("--body", GONE))
          .isEqualTo(
              new Printed(
                  ExitCode.USAGE,
                  "",
                  "bbs: The bodies of call "
                      + GONE
                      + " were kept, and deleted at 2026-12-01T02:03:04Z to make room.\n"));
      assertThat(calls("--body", UNKNOWN).err())
          .contains("are not kept", "cannot be read now", "in use by pid");
    }
    assertThat(calls("--body", "another"))
        .isEqualTo(new Printed(ExitCode.USAGE, "", "bbs: \"another\" is no call id\n"));
  }

  @Test
  void withoutAnyThereIsNothingToList() {
    assertThat(Printed.by("calls", "--state-dir", temp.resolve("none").toString()))
        .isEqualTo(new Printed(ExitCode.OK, "", ""));
    assertThat(
            Printed.by("calls", "--body", KEPT, "--state-dir", temp.resolve("none").toString())
                .err())
        .contains("is no state directory");
  }

  @Test
  void aFileThatIsNotWholeIsNamed() throws IOException {
    Path file = captures.resolve(KEPT + ".call.gz");
    byte[] whole = Files.readAllBytes(file);
    Files.write(file, Arrays.copyOf(whole, 8));
    assertThat(calls().out()).contains(KEPT + ".call.gz is not whole: it ends too early\n", LATER);
    Printed body = calls("--body", KEPT);
    assertThat(body.code()).isEqualTo(ExitCode.USAGE);
    assertThat(body.err()).contains("the bodies of call " + KEPT + " are not whole");
  }

  @Test
  void ofACallThatIsNotListedTheLedgerSaysWhatWasDecided() throws Exception {
    Path ledgers = temp.resolve("ledgers");
    try (Ledger ledger =
        Ledger.open(
            LedgerConfig.at(ledgers),
            new LedgerFacts.BootStarting("0", 1, "boot"),
            InstantSource.system())) {
      TurnKey turn = turn(ledger);
      note(ledger, turn, 3, Optional.of(CaptureDecision.OFF.wireName()));
      note(ledger, turn, 4, Optional.of(CaptureDecision.NOT_WANTED.wireName()));
      note(ledger, turn, 5, Optional.of(CaptureDecision.DROPPED.wireName()));
      note(ledger, turn, 6, Optional.of(CaptureDecision.WANTED.wireName()));
      note(ledger, turn, 7, Optional.empty());
      ledger.note(started(turn, id(8)));
    }
    assertThat(body(ledgers, 3)).contains("BBS_CAPTURE=off");
    assertThat(body(ledgers, 4)).contains("not wanted");
    assertThat(body(ledgers, 5)).contains("no memory");
    assertThat(body(ledgers, 6)).contains("they were to be, but");
    assertThat(body(ledgers, 7)).contains("before this was recorded");
    assertThat(body(ledgers, 8)).contains("it has not ended");
    assertThat(body(ledgers, 9)).contains("the ledger has no such call");
  }

  private static String id(int number) {
    return "1b0cde5c-6ea0-4b4c-9a2c-00000000000" + number;
  }

  private static String body(Path state, int number) {
    Printed printed = Printed.by("calls", "--body", id(number), "--state-dir", state.toString());
    assertThat(printed.code()).isEqualTo(ExitCode.USAGE);
    assertThat(printed.err()).startsWith("bbs: The bodies of call " + id(number) + " are not kept");
    return printed.err();
  }

  private static TurnKey turn(Ledger ledger) {
    LedgerFacts.Bound bound =
        ledger.bind(
            new LedgerFacts.Binding(
                "rt-1",
                "script",
                "fingerprint",
                "{}",
                "hash",
                "{}",
                "{}",
                new SessionId("s1"),
                new InstanceId("i1"),
                4711,
                Optional.empty(),
                OptionalLong.empty()));
    TurnKey turn = new TurnKey(bound.sessionKey(), new TurnId("t1"));
    ledger.admit(
        new LedgerFacts.Admit(
            turn.sessionKey(),
            Optional.of(turn.turnId()),
            "fingerprint",
            "[]",
            "{}",
            Optional.empty(),
            1));
    ledger.start(turn);
    return turn;
  }

  private static LedgerFacts.CallStarted started(TurnKey turn, String id) {
    return new LedgerFacts.CallStarted(
        id,
        turn,
        0,
        "chat",
        true,
        "m",
        1,
        Instant.EPOCH,
        "main",
        Optional.empty(),
        Optional.empty());
  }

  private static void note(Ledger ledger, TurnKey turn, int number, Optional<String> capture) {
    ledger.note(started(turn, id(number)));
    ledger.note(
        new LedgerFacts.CallEnded(
            id(number),
            200,
            "ok",
            Optional.empty(),
            Instant.EPOCH,
            1,
            OptionalLong.empty(),
            OptionalLong.empty(),
            OptionalLong.empty(),
            OptionalLong.empty(),
            0,
            Optional.empty(),
            Optional.empty(),
            0,
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            false,
            capture));
  }

  @Test
  void backupsTakeThemAlongUnlessToldNotTo() throws Exception {
    try (LedgerInspection _ = LedgerInspection.open(LedgerConfig.at(state))) {
      Path backup = temp.resolve("backup");
      Printed printed = Printed.by("backup", backup.toString(), "--state-dir", state.toString());
      assertThat(printed.code()).isEqualTo(ExitCode.OK);
      assertThat(printed.out()).contains("backed up and checked: ", "with the bodies of 2 model");
      Path without = temp.resolve("without");
      assertThat(
              Printed.by(
                      "backup",
                      "--without-bodies",
                      without.toString(),
                      "--state-dir",
                      state.toString())
                  .out())
          .contains("without the bodies of model calls");
      assertThat(without.resolve("captures")).doesNotExist();

      Printed before = calls();
      state = temp.resolve("restored");
      assertThat(Printed.by("restore", backup.toString(), "--state-dir", state.toString()).out())
          .contains("restored and checked: ", "with the bodies of 2 model calls");
      assertThat(calls()).isEqualTo(before);
      assertThat(calls("--body", GONE).err()).contains("deleted at 2026-12-01T02:03:04Z");
    }
    for (Path path : new Path[] {temp.resolve("backup/captures"), state.resolve("captures")}) {
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
          .isEqualTo("rwx------");
      assertThat(
              PosixFilePermissions.toString(
                  Files.getPosixFilePermissions(path.resolve(KEPT + ".call.gz"))))
          .isEqualTo("rw-------");
    }
  }

  @Test
  void aBackupWhoseBodiesCannotBeCopiedSaysThatItsLedgerIsWhole() throws Exception {
    try (LedgerInspection _ = LedgerInspection.open(LedgerConfig.at(state))) {
      Path backup = Files.createDirectory(temp.resolve("backup"));
      Files.writeString(backup.resolve("captures"), "a file");
      Printed printed = Printed.by("backup", backup.toString(), "--state-dir", state.toString());
      assertThat(printed.code()).isEqualTo(ExitCode.NOT_WRITABLE);
      assertThat(printed.err()).contains("is whole, but it lacks bodies of model calls");
      assertThat(Printed.by("check", "--state-dir", backup.toString()).code())
          .isEqualTo(ExitCode.OK);
    }
  }
}
