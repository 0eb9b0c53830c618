package dev.blackbox.app.soak;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** The agent as a file, what can be asked of it, and the record that it keeps of its runs. */
final class SoakAgent {

  private static final String SCRIPT_RESOURCE = "/soak/agent.sh";

  private final Path program;
  private final Path runs;

  private SoakAgent(Path program, Path runs) {
    this.program = program;
    this.runs = runs;
  }

  /** The agent that comes with the program. */
  static String script() {
    try (InputStream bytes = SoakAgent.class.getResourceAsStream(SCRIPT_RESOURCE)) {
      if (bytes == null) {
        throw new IllegalStateException(SCRIPT_RESOURCE + " is missing from the program");
      }
      return new String(bytes.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(SCRIPT_RESOURCE + " cannot be read", unreadable);
    }
  }

  static SoakAgent write(Path directory, String script) throws IOException {
    Path runs = directory.resolve("runs");
    Path program = directory.resolve("agent.sh");
    Files.createFile(runs);
    Files.writeString(program, script.replace("@RUNS@", runs.toString()));
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    return new SoakAgent(program, runs);
  }

  Path program() {
    return program;
  }

  /** A task: mostly short, now and then with children, model calls, or a failure. */
  static String prompt(Random random) {
    List<String> words = new ArrayList<>();
    if (random.nextInt(4) == 0) {
      words.add(random.nextBoolean() ? "child" : "escapee");
    }
    if (random.nextInt(2) == 0) {
      words.add(
          List.of("call-fast", "call-fast", "call-slow", "call-error", "call-cut")
              .get(random.nextInt(5)));
    }
    if (random.nextInt(3) != 0) {
      words.add("sleep:0." + (1 + random.nextInt(random.nextInt(5) == 0 ? 9 : 2)));
    }
    if (random.nextInt(20) == 0) {
      words.add("long");
    }
    if (random.nextInt(20) == 0) {
      words.add("fail");
    }
    words.add("please");
    return String.join(" ", words);
  }

  /** The names of its runs by turn id. */
  Map<String, List<String>> runs() {
    Map<String, List<String>> byTurn = new HashMap<>();
    try {
      for (String line : Files.readAllLines(runs)) {
        String[] words = line.split(" ");
        byTurn.computeIfAbsent(words[0], _ -> new ArrayList<>()).add(words[words.length - 1]);
      }
    } catch (IOException unreadable) {
      throw new UncheckedIOException("the agent's record cannot be read", unreadable);
    }
    return byTurn;
  }
}
