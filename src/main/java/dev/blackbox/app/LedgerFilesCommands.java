package dev.blackbox.app;

import dev.blackbox.config.LogLevel;
import dev.blackbox.ledger.LedgerFiles;
import dev.blackbox.ledger.LedgerRefusedException;
import dev.blackbox.proxy.CaptureConfig;
import dev.blackbox.proxy.CapturedCalls;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;

/** Commands that copy the files of a ledger, or put them right. */
final class LedgerFilesCommands {

  private LedgerFilesCommands() {}

  /** Copies it, also while a server writes it. */
  @Command(
      name = "backup",
      customSynopsis = "bbs ledger backup TO [OPTION...]",
      description = {
        "Copies the ledger to a new directory, also while a server runs, and checks the copy.",
        "The copy is a state directory, with the bodies of model calls that are kept."
      },
      mixinStandardHelpOptions = true,
      versionProvider = Commands.Root.class)
  static final class Backup implements Callable<Integer> {

    @CommandLine.Spec private CommandSpec spec;

    @CommandLine.Parameters(paramLabel = "TO", description = "A directory without a ledger.")
    private Path to = Path.of("");

    @CommandLine.Mixin private final Bodies bodies = new Bodies();

    @Override
    public Integer call() {
      return copy(stateDirectory(spec), to, "backed up", bodies, spec.commandLine().getOut());
    }
  }

  /** Copies a backup to where a server will look for it. */
  @Command(
      name = "restore",
      customSynopsis = "bbs ledger restore FROM [OPTION...]",
      description = {
        "Copies a backup to the state directory, which must not have a ledger, and checks it."
      },
      mixinStandardHelpOptions = true,
      versionProvider = Commands.Root.class)
  static final class Restore implements Callable<Integer> {

    @CommandLine.Spec private CommandSpec spec;

    @CommandLine.Parameters(paramLabel = "FROM", description = "The directory of a backup.")
    private Path from = Path.of("");

    @CommandLine.Mixin private final Bodies bodies = new Bodies();

    @Override
    public Integer call() {
      return copy(from, stateDirectory(spec), "restored", bodies, spec.commandLine().getOut());
    }
  }

  /** Makes the database, or the journal, again from the other one. */
  @Command(
      name = "repair",
      customSynopsis = "bbs ledger repair [OPTION...]",
      description = {
        "Makes the database again from the journal; if the journal is damaged, that first from the"
            + " database.",
        "Keeps what it replaces, and leaves out no fact."
      },
      mixinStandardHelpOptions = true,
      versionProvider = Commands.Root.class)
  static final class Repair implements Callable<Integer> {

    @CommandLine.Spec private CommandSpec spec;

    @Override
    public Integer call() {
      PrintWriter out = spec.commandLine().getOut();
      try {
        LedgerFiles.repair(stateDirectory(spec)).forEach(out::println);
      } catch (LedgerRefusedException refused) {
        throw StartFailures.of(refused);
      }
      out.flush();
      return ExitCode.OK.number();
    }
  }

  /** Whether the bodies of model calls are copied, too. */
  static final class Bodies {
    @CommandLine.Option(
        names = "--without-bodies",
        description = "Leaves the bodies of model calls out.")
    private boolean without;
  }

  private static int copy(Path from, Path to, String done, Bodies bodies, PrintWriter out) {
    try {
      LedgerFiles.Copied copied = LedgerFiles.copy(from, to);
      out.println(
          String.format(
              Locale.ROOT,
              "%s and checked: %d facts in %s, %d bytes, last hash %s",
              done,
              copied.facts(),
              to,
              copied.bytes(),
              copied.lastHash()));
      // After the ledger: so every call in it that has its bodies in one has them in the other.
      out.println(bodies.without ? "without the bodies of model calls" : bodiesOf(from, to));
      out.flush();
      return ExitCode.OK.number();
    } catch (LedgerRefusedException refused) {
      throw StartFailures.of(refused);
    }
  }

  private static String bodiesOf(Path from, Path to) {
    String directory = CaptureConfig.DIRECTORY_NAME;
    try {
      CapturedCalls.Copied copied =
          CapturedCalls.copyAll(from.resolve(directory), to.resolve(directory));
      return String.format(
          Locale.ROOT,
          "with the bodies of %d model calls, %d bytes; not checked, each has a checksum",
          copied.calls(),
          copied.bytes());
    } catch (IOException failed) {
      throw new ExitException(
          ExitCode.NOT_WRITABLE,
          "The ledger in " + to + " is whole, but it lacks bodies of model calls: " + failed,
          failed);
    }
  }

  /** What is put right on the way is a part of the work, and no warning. */
  private static Path stateDirectory(CommandSpec spec) {
    Logging.start(LogLevel.ERROR);
    return Serve.read(SettingOptions.given(spec), System.err).ledger().directory();
  }
}
