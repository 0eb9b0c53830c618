package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.blackbox.app.AllowedDifferences.Allowed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The recorded requests and answers of the reference server, asked of ours. Each answer that
 * differs must be explained in docs/compatibility.md, and each explanation must be needed. They are
 * not part of this project: without them, or without Python, this test says so and is skipped; what
 * they stand for is also in the tests that need neither.
 */
@Tag("agents")
@Timeout(900)
class ProbesTest {

  private static final Path PROBES =
      Path.of(System.getProperty("probes", "../shared/conformance/probe"));

  private static final int RUN_MINUTES_MAX = 12;

  @TempDir Path directory;

  @Test
  void everyDifferenceIsExplainedAndEveryExplanationIsNeeded() throws Exception {
    needs(Files.isRegularFile(PROBES.resolve("expected.jsonl")), "no probes at " + PROBES);
    needs(hasPython(), "no python3");
    ProbeAnswers expected = ProbeAnswers.read(PROBES.resolve("expected.jsonl"));
    Map<String, List<String>> differences = expected.differencesOf(run());
    List<Allowed> allowed = AllowedDifferences.read();
    List<String> unexplained =
        differences.entrySet().stream()
            .filter(entry -> allowed.stream().noneMatch(each -> each.explains(entry.getKey())))
            .map(entry -> entry.getKey() + ": " + String.join("; ", entry.getValue()))
            .toList();
    List<String> needless =
        allowed.stream()
            .filter(each -> differences.keySet().stream().noneMatch(each::explains))
            .map(each -> each.pattern() + " (" + each.difference() + ")")
            .toList();
    System.out.printf(
        "probes: %d, of which %d differ, explained by %d lines of %s%n",
        expected.size(),
        differences.size(),
        allowed.stream().map(Allowed::difference).distinct().count(),
        AllowedDifferences.DOCUMENT);
    assertThat(unexplained).as("probes that differ without a reason").isEmpty();
    assertThat(needless).as("allowed differences that are none").isEmpty();
  }

  private static void needs(boolean there, String otherwise) {
    if (!there) {
      System.out.println("ProbesTest is skipped: " + otherwise);
    }
    assumeTrue(there, otherwise);
  }

  private static boolean hasPython() throws InterruptedException {
    try {
      return new ProcessBuilder("python3", "--version").start().waitFor() == 0;
    } catch (IOException none) {
      return false;
    }
  }

  private ProbeAnswers run() throws Exception {
    Path answers = directory.resolve("answers.jsonl");
    Path output = directory.resolve("output");
    String server =
        JavaCommand.of(Main.class, List.of("serve")).words().stream()
            .map(word -> "'" + word.replace("'", "'\\''") + "'")
            .collect(Collectors.joining(" "));
    ProcessBuilder builder =
        new ProcessBuilder(
            "python3",
            PROBES.resolve("probe_contract.py").toString(),
            "--server-cmd",
            server,
            "--out",
            answers.toString());
    builder.environment().keySet().removeIf(name -> name.startsWith("BBS_"));
    builder.environment().put("PROBE_WORK", directory.resolve("work").toString());
    Process process = builder.redirectErrorStream(true).redirectOutput(output.toFile()).start();
    boolean ended = process.waitFor(RUN_MINUTES_MAX, TimeUnit.MINUTES);
    if (!ended) {
      process.descendants().forEach(ProcessHandle::destroy);
      process.destroy();
    }
    assertThat(ended && process.exitValue() == 0).as(Files.readString(output)).isTrue();
    return ProbeAnswers.read(answers);
  }
}
