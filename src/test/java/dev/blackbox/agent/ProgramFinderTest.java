package dev.blackbox.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ProgramFinderTest {

  @TempDir Path directory;

  private AgentFixture fixture;

  @BeforeEach
  void open() {
    fixture = new AgentFixture(directory);
  }

  @AfterEach
  void nothingIsLeft() {
    fixture.close();
  }

  @Test
  void theOptionComesBeforeTheVariableBeforeThePath() throws Exception {
    Path onPath = program("thing", "echo 1; echo more");
    Path named = program("named", "echo 2");
    Path chosen = program("chosen", "echo 3");

    assertThat(finder(Map.of("PATH", "/nowhere:" + directory)).find(Optional.empty()))
        .isEqualTo(new ProgramFinder.Found(onPath, "1", "/nowhere:" + directory));
    Map<String, String> environment =
        Map.of("PATH", directory.toString(), "THING_BIN", named.toString());
    assertThat(finder(environment).find(Optional.of("")).path()).isEqualTo(named);
    assertThat(finder(environment).find(Optional.of(chosen.toString())).version()).isEqualTo("3");
    assertThat(finder(environment).find(Optional.of("chosen")).path()).isEqualTo(chosen);
  }

  @Test
  void theVersionIsAskedOncePerFile() throws Exception {
    Path asked = directory.resolve("asked");
    Path program = program("thing", "echo x >> '" + asked + "'; echo 1");
    ProgramFinder finder = finder(Map.of("THING_BIN", program.toString()));

    finder.find(Optional.empty());
    finder.find(Optional.empty());
    assertThat(asked).hasContent("x");
    program("thing", "echo two");
    assertThat(finder.find(Optional.empty()).version()).isEqualTo("two");
  }

  @ParameterizedTest
  @ValueSource(strings = {"exit 3", "true", "echo; echo"})
  void aProgramThatTellsNoVersionIsUsedAllTheSame(String script) throws Exception {
    Path program = program("thing", script);

    assertThat(finder(Map.of("THING_BIN", program.toString())).find(Optional.empty()).version())
        .isEqualTo("unknown");
  }

  @Test
  void aMissingProgramIsToldWithTheVariable() throws Exception {
    Path noProgram = Files.createFile(directory.resolve("file"));
    for (String wanted :
        new String[] {"/no/such/thing", noProgram.toString(), directory.toString(), "thing"}) {
      assertThatThrownBy(
              () ->
                  finder(Map.of("THING_BIN", wanted, "PATH", directory.toString()))
                      .find(Optional.empty()))
          .isInstanceOfSatisfying(
              Problem.class,
              problem -> {
                assertThat(problem.code()).isEqualTo(ErrorCode.BACKEND_ERROR);
                assertThat(problem.details()).containsEntry("blackbox_type", "thing");
              })
          .hasMessageStartingWith("thing binary not found. Set THING_BIN or install Thing. (")
          .hasMessageContaining(wanted);
    }
  }

  private ProgramFinder finder(Map<String, String> environment) {
    return new ProgramFinder(
        "thing", "Thing", "THING_BIN", "thing", environment, fixture.processes);
  }

  private Path program(String name, String script) throws Exception {
    Path program = directory.resolve(name);
    Files.writeString(program, "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    return program;
  }
}
