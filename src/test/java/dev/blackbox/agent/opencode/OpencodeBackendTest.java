package dev.blackbox.agent.opencode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.agent.Agent;
import dev.blackbox.agent.AgentFixture;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.wire.Json;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Options, program and files of opencode. */
class OpencodeBackendTest {

  private static final String PATH = "/usr/local/bin:/usr/bin:/bin";

  private static final String PROVIDER =
      """
      {"engine": {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Engine",
        "options": {
          "baseURL": "http://127.0.0.1:4711/v1", "apiKey": "{env:BBS_MODEL_KEY}",
          "timeout": 600000, "headerTimeout": false, "chunkTimeout": false},
        "models": {
          "m1": {"name": "Model one", "tools": true, "limit": {"context": 32000, "output": 4096}}}}}\
      """;

  @TempDir Path directory;
  @TempDir Path programs;

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
  void allFaultsAreToldAtOnce() {
    Map<String, Object> options = new HashMap<>(FakeProgram.OPTIONS);
    options.remove("model_id");
    options.put("provider_name", 7);
    options.put("endpoint", "x");
    options.put("model_limit", Map.of("context", 0, "input", "many", "width", 1));
    options.put("compaction", Map.of("auto", "perhaps", "reserved", -1));

    assertThatThrownBy(() -> OpencodeOptions.parse(options))
        .isInstanceOfSatisfying(
            Problem.class,
            problem -> {
              assertThat(problem.code()).isEqualTo(ErrorCode.REQUEST_ERROR);
              assertThat(problem.details()).isEqualTo(Map.of("blackbox_type", "opencode"));
              assertThat(problem.text())
                  .startsWith("Invalid opencode backend_options: ")
                  .contains("model_id: a string is required")
                  .contains("provider_name: must be a string, is 7")
                  .contains("endpoint: unexpected")
                  .contains("model_limit.context: must be at least 1, is 0")
                  .contains("model_limit.output: an integer is required")
                  .contains("model_limit.input: must be an integer, is a string")
                  .contains("model_limit.width: unexpected")
                  .contains("compaction.auto: must be true or false, is a string")
                  .contains("compaction.reserved: must be at least 0, is -1");
            });
  }

  @Test
  void nullsAndLooseTypesAreTaken() {
    Map<String, Object> options = new HashMap<>(FakeProgram.OPTIONS);
    options.put("model_limit", Map.of("context", "5", "output", 5.0));
    Map<String, Object> compaction =
        new HashMap<>(Map.of("auto", "yes", "prune", 0, "tail_turns", true));
    compaction.put("reserved", null);
    options.put("compaction", compaction);

    OpencodeOptions parsed = OpencodeOptions.parse(options);

    assertThat(parsed.modelLimit()).contains(Map.of("context", 5L, "output", 5L));
    assertThat(parsed.compaction())
        .contains(Map.of("auto", true, "prune", false, "tail_turns", 1L));
    assertThat(parsed.compactsAutomatically()).isTrue();
  }

  @Test
  void theProgramAndItsVersionAreTheIdentity() throws Exception {
    Path program = FakeProgram.write(programs, "1.20.0-beta", "normal");

    assertThat(
            backend(Map.of("OPENCODE_BIN", program.toString()))
                .plan(FakeProgram.OPTIONS)
                .identity())
        .isEqualTo(Map.of("program", program.toString(), "version", "1.20.0-beta"));
    Files.move(program, programs.resolve("opencode"));
    assertThat(backend(Map.of("PATH", PATH + ":" + programs)).plan(FakeProgram.OPTIONS).identity())
        .containsEntry("program", programs.resolve("opencode").toString());
  }

  @Test
  void aVersionIsAskedForOncePerFile() throws Exception {
    Path program = FakeProgram.write(programs, "1.18.33", "normal");
    OpencodeBackend backend = backend(Map.of("OPENCODE_BIN", program.toString()));
    backend.plan(FakeProgram.OPTIONS);
    backend.plan(FakeProgram.OPTIONS);

    assertThat(fixture.started).hasSize(1);
    FakeProgram.write(programs, "1.18.40000", "normal");
    assertThat(backend.plan(FakeProgram.OPTIONS).identity()).containsEntry("version", "1.18.40000");
  }

  @ParameterizedTest
  @ValueSource(strings = {"0.15.2", "1.17.9", "2.0.0", "latest"})
  void versionsThatCannotBeDrivenAreRefused(String version) throws Exception {
    Path program = FakeProgram.write(programs, version, "normal");

    assertThatThrownBy(
            () -> backend(Map.of("OPENCODE_BIN", program.toString())).plan(FakeProgram.OPTIONS))
        .isInstanceOf(Problem.class)
        .hasMessageContaining("opencode " + version)
        .hasMessageContaining("1.18.33 is tested");
  }

  @Test
  void aMissingProgramIsNamed() {
    assertThatThrownBy(
            () -> backend(Map.of("OPENCODE_BIN", "/no/such/opencode")).plan(FakeProgram.OPTIONS))
        .isInstanceOfSatisfying(
            Problem.class, problem -> assertThat(problem.code()).isEqualTo(ErrorCode.BACKEND_ERROR))
        .hasMessageContaining("Set OPENCODE_BIN or install opencode-ai@1.18.33")
        .hasMessageContaining("/no/such/opencode is no executable file");
    assertThatThrownBy(() -> backend(Map.of("PATH", "/no/such")).plan(FakeProgram.OPTIONS))
        .hasMessageContaining("opencode is not on the PATH");
  }

  @Test
  void aProgramThatFailsToTellItsVersionIsRefused() throws Exception {
    Path program =
        FakeProgram.executable(programs.resolve("broken"), "#!/bin/sh\necho no >&2; exit 9\n");

    assertThatThrownBy(
            () -> backend(Map.of("OPENCODE_BIN", program.toString())).plan(FakeProgram.OPTIONS))
        .isInstanceOf(Problem.class)
        .hasMessageContaining("exited with code 9: no");
  }

  @Test
  void theFilesAreThoseOfTheReferenceAndPrivate() throws Exception {
    Path program = FakeProgram.write(programs, "1.18.33", "normal");
    Map<String, Object> options = new HashMap<>(FakeProgram.OPTIONS);
    options.put("model_limit", Map.of("context", 32_000, "output", 4_096));
    options.put("compaction", Map.of());
    try (Agent agent =
        backend(Map.of("OPENCODE_BIN", program.toString(), "PATH", PATH))
            .plan(options)
            .start(
                fixture.slot(
                    URI.create("http://127.0.0.1:4711/v1"),
                    Optional.of("Prömpt"),
                    Optional.empty()))) {
      assertThat(agent.healthy()).isTrue();
    }

    Path configuration = directory.resolve("home/.config/opencode/opencode.json");
    Map<String, Object> config = Json.object(Files.readString(configuration));
    assertThat(config)
        .containsEntry("$schema", "https://opencode.ai/config.json")
        .containsEntry("model", "engine/m1")
        .containsEntry("small_model", "engine/m1")
        .containsEntry("permission", Map.of("*", "allow", "question", "deny", "doom_loop", "deny"))
        .containsEntry("compaction", Map.of())
        .containsEntry(
            "agent",
            Map.of(
                "title",
                Map.of("disable", true),
                "build",
                Map.of("prompt", "{file:./prompts/build.txt}")))
        .containsEntry("provider", Json.object(PROVIDER));
    assertThat(Files.readString(configuration)).doesNotContain(AgentFixture.MODEL_KEY);
    assertThat(directory.resolve("home/.config/opencode/prompts/build.txt")).hasContent("Prömpt");
    assertThat(directory.resolve("run/proxy.port")).hasContent("4711");
    assertThat(Files.readString(directory.resolve("run/opencode.port"))).matches("\\d+");
    assertThat(directory.resolve("run/opencode.pid"))
        .hasContent(Long.toString(fixture.started.getLast().pid()));
    assertThat(Files.getPosixFilePermissions(configuration))
        .isEqualTo(PosixFilePermissions.fromString("rw-------"));
    assertThat(Files.getPosixFilePermissions(directory.resolve("workspace")))
        .isEqualTo(PosixFilePermissions.fromString("rwx------"));
  }

  private OpencodeBackend backend(Map<String, String> environment) {
    Map<String, String> all = new HashMap<>(Map.of("PATH", PATH));
    all.putAll(environment);
    return new OpencodeBackend(all, fixture.processes);
  }
}
