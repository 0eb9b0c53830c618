package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The demo's story, with the real server as a real process that is really killed. */
class DemoTest {

  @TempDir private Path directory;
  private final StringWriter told = new StringWriter();

  @Test
  void aTurnSurvivesKillMinusNine() throws Exception {
    Path file = directory.resolve("hello.txt");

    assertThat(tell(file, writing(file, DemoAgent.FILE_CONTENT))).as(told.toString()).isTrue();

    assertThat(told.toString())
        .contains("yes       idempotent_replay is true", "turn_settled", "Shown: same answer")
        .doesNotContain("NO  ");
  }

  @Test
  void whatWasNotSeenIsNotClaimed() throws Exception {
    Path file = directory.resolve("hello.txt");

    assertThat(tell(file, writing(file, "something else"))).isFalse();

    assertThat(told.toString())
        .contains("NO        the agent wrote the file", "NOT shown:")
        .doesNotContain("Shown: same answer");
  }

  @Test
  @Tag("agents")
  void itIsTrueOfTheRealOpencode() throws Exception {
    Optional<Path> opencode = AgentPrograms.beside(null).opencode();
    assumeThat(opencode).as("opencode: set OPENCODE_BIN, or run .ci/run").isPresent();
    Path file = directory.resolve("hello.txt");

    assertThat(tell(file, DemoAgent.opencode(opencode.orElseThrow(), file)))
        .as(told.toString())
        .isTrue();
    assertThat(Files.readString(file)).isEqualTo(DemoAgent.FILE_CONTENT + "\n");
  }

  private boolean tell(Path file, DemoAgent agent) throws InterruptedException {
    try (Demo demo = new Demo(directory, file, agent, new PrintWriter(told))) {
      return demo.tell(Engines::scripted);
    }
  }

  /** An agent that writes a file and needs nothing but a shell. */
  private DemoAgent writing(Path file, String content) throws IOException {
    Path program =
        Files.writeString(
            directory.resolve("agent.sh"),
            "#!/bin/sh\ncat >/dev/null\nprintf '%s\\n' '"
                + content
                + "' >'"
                + file
                + "'\necho Done.\n");
    assertThat(program.toFile().setExecutable(true)).isTrue();
    return new DemoAgent(
        "a shell script, " + program,
        "script",
        Map.of(),
        "{\"otherwise\": [\"unused\"]}",
        List.of("--script-agent=" + program),
        Map.of());
  }
}
