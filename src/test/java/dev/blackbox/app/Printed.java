package dev.blackbox.app;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** What a command of {@code bbs ledger} ended with and printed, run in this process. */
record Printed(ExitCode code, String out, String err) {

  static Printed by(String... arguments) {
    List<String> all = new ArrayList<>(List.of("ledger"));
    all.addAll(List.of(arguments));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    PrintStream outBefore = System.out;
    PrintStream errBefore = System.err;
    int number;
    try (PrintStream told = new PrintStream(out, true, StandardCharsets.UTF_8);
        PrintStream failed = new PrintStream(err, true, StandardCharsets.UTF_8)) {
      System.setOut(told);
      System.setErr(failed);
      number =
          Main.run(
              all.toArray(new String[0]),
              configuration -> {
                throw new IllegalStateException("opens no server: " + configuration);
              },
              failed);
    } finally {
      System.setOut(outBefore);
      System.setErr(errBefore);
    }
    ExitCode code =
        Stream.of(ExitCode.values())
            .filter(each -> each.number() == number)
            .findFirst()
            .orElseThrow();
    return new Printed(
        code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
  }
}
