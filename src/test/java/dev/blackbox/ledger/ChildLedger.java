package dev.blackbox.ledger;

import dev.blackbox.ledger.LedgerConfig.Sync;
import dev.blackbox.turn.TurnKey;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A process of its own with a ledger, which says what was acknowledged until it is killed. */
final class ChildLedger {

  private final Process process;
  private final BufferedReader output;

  private ChildLedger(Process process) {
    this.process = process;
    this.output =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  static ChildLedger start(Path state, Sync sync, int threads, String... jvmOptions)
      throws IOException {
    List<String> command =
        command(
            List.of(jvmOptions),
            ChildLedger.class,
            state.toString(),
            sync.name(),
            String.valueOf(threads));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.redirectError(ProcessBuilder.Redirect.DISCARD);
    return new ChildLedger(builder.start());
  }

  /** A small Java process of this class path. */
  static List<String> command(List<String> jvmOptions, Class<?> main, String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Xmx128m"));
    command.addAll(jvmOptions);
    // Surefire's own class path is one manifest; this is what it stands for.
    String classPath =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    command.addAll(List.of("-cp", classPath, main.getName()));
    command.addAll(List.of(arguments));
    return command;
  }

  /** Reads that many acknowledgements, kills the process with SIGKILL, and reads the rest. */
  List<String> killedAfter(int acknowledgements) throws IOException, InterruptedException {
    List<String> lines = new ArrayList<>();
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      lines.add(line);
      if (lines.size() == acknowledgements) {
        process.toHandle().destroyForcibly();
      }
    }
    if (!process.waitFor(30, TimeUnit.SECONDS)) {
      throw new IllegalStateException("the child did not end");
    }
    // The last line may be cut.
    lines.removeIf(line -> !line.endsWith("."));
    return lines;
  }

  /** Why it could not open the ledger. */
  String refusal() throws IOException, InterruptedException {
    String line = String.valueOf(output.readLine());
    process.toHandle().destroyForcibly();
    process.waitFor();
    return line;
  }

  public static void main(String[] args) throws Exception {
    PrintStream acknowledged = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    LedgerConfig config =
        new LedgerConfig(
            Path.of(args[0]), Sync.valueOf(args[1]), 64, 40_000, Duration.ofMillis(200), 2);
    Ledger ledger;
    try {
      ledger = Ledger.open(config, Ledgers.BOOT, InstantSource.system());
    } catch (LedgerRefusedException refused) {
      acknowledged.println(refused.reason() + " " + refused.getMessage());
      return;
    }
    ledger.recover();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < Integer.parseInt(args[2]); i++) {
      long session = Ledgers.session(ledger, "sess-" + i);
      threads.add(Thread.ofPlatform().start(() -> work(ledger, session, acknowledged)));
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  /** One line after each verb that returned: {@code <verb> <session> <turn>.} */
  private static void work(Ledger ledger, long session, PrintStream acknowledged) {
    for (int i = 0; ; i++) {
      String id = "boot-" + ledger.boot() + "-turn-" + i;
      TurnKey key = Ledgers.key(session, id);
      ledger.admit(Ledgers.admit(session, id, id));
      acknowledged.println("queued " + session + " " + id + ".");
      ledger.start(key);
      acknowledged.println("started " + session + " " + id + ".");
      ledger.settle(key, Ledgers.committed("answer to " + id));
      acknowledged.println("committed " + session + " " + id + ".");
    }
  }
}
