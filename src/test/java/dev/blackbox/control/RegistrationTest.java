package dev.blackbox.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.blackbox.agent.Backend;
import dev.blackbox.agent.Capabilities;
import dev.blackbox.control.Rollout.RegisterRequest;
import dev.blackbox.kernel.Problem;
import dev.blackbox.kernel.Secret;
import dev.blackbox.proxy.ProxyBinding;
import dev.blackbox.wire.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RegistrationTest {

  @TempDir Path directory;

  /** Golden values of the reference server, section 14: without a prompt, ours are the same. */
  @Test
  void fingerprintsAreThoseOfTheReference() {
    assertThat(check(request(Map.of(), Map.of(), null)).fingerprint())
        .isEqualTo("f21ed0f317306a7130d2178bf60ca1c6a2ecee498c1243ba810bc873d929d1ee");
    assertThat(
            check(
                    request(
                        Json.object("{\"b\":1,\"a\":[null,{\"x\":null,\"y\":1.0}]}"),
                        Map.of("max_turns", 3),
                        null))
                .fingerprint())
        .isEqualTo("856f7adce23247591c9433c0a21b0f6c339cf9617ef3d021952bf27740bda20b");
  }

  @Test
  void theContentOfThePromptCountsNotOnlyItsPath() throws IOException {
    Path prompt = Files.writeString(directory.resolve("p.txt"), "be brief");
    Registration first = check(request(Map.of(), Map.of(), prompt.toString()));
    Files.writeString(prompt, "be long");
    Registration second = check(request(Map.of(), Map.of(), prompt.toString()));
    assertThat(second.fingerprint()).isNotEqualTo(first.fingerprint());
    assertThat(second.parametersFingerprint()).isEqualTo(first.parametersFingerprint());
  }

  @Test
  void aLostPromptIsRememberedAsAProblemForTheCallerToJudge() throws IOException {
    assertThat(
            check(request(Map.of(), Map.of(), directory.resolve("none").toString()))
                .promptFileLost())
        .isPresent();
    assertThat(check(request(Map.of(), Map.of(), directory.toString())).promptFileLost())
        .isPresent();
    assertThat(check(request(Map.of(), Map.of(), "")).promptFileLost()).isPresent();
    Path notText = Files.write(directory.resolve("bytes"), new byte[] {(byte) 0xff, (byte) 0xfe});
    assertThat(check(request(Map.of(), Map.of(), notText.toString())).promptFileLost())
        .get()
        .satisfies(problem -> assertThat(problem.text()).contains("not UTF-8"));
  }

  @Test
  void overridesReplaceOnlyWhatTheyName() {
    ServerSettings effective =
        check(
                request(
                    Map.of(),
                    Map.of("max_turns", 7, "backend_timeout", 1.5, "runtime_root", "/r"),
                    null))
            .effective();
    assertThat(effective.maxTurns()).isEqualTo(7);
    assertThat(effective.backendTimeout()).isEqualTo(1.5);
    assertThat(effective.runtimeRoot()).isEqualTo("/r");
    assertThat(effective.maxSessions()).isEqualTo(ServerSettings.DEFAULTS.maxSessions());
  }

  @Test
  void missingNamesAreRefused() {
    RegisterRequest request =
        new RegisterRequest(
            "opencode",
            "h:1",
            "/v1",
            Optional.of(""),
            Optional.of("i"),
            Optional.empty(),
            Optional.empty(),
            Map.of(),
            Map.of());
    assertThatExceptionOfType(Problem.class)
        .isThrownBy(() -> check(request))
        .withMessageContaining("bound_session_id");
  }

  @Test
  void unknownBackendsAreRefusedByName() {
    RegisterRequest request =
        new RegisterRequest(
            "Opencode",
            "h:1",
            "/v1",
            Optional.of("s"),
            Optional.of("i"),
            Optional.empty(),
            Optional.empty(),
            Map.of(),
            Map.of());
    assertThatExceptionOfType(Problem.class)
        .isThrownBy(() -> check(request))
        .withMessageContaining("Opencode");
  }

  @Test
  void whatIsStoredComesBackAsTheSameRegistration() throws IOException {
    Path prompt = Files.writeString(directory.resolve("p.txt"), "be brief");
    Registration before =
        check(request(Map.of("model_id", "m"), Map.of("max_turns", 3), prompt.toString()));
    String stored = StoredRegistrations.write(before);
    Files.delete(prompt);
    Registration after =
        StoredRegistrations.read(
            new dev.blackbox.ledger.LedgerFacts.Binding(
                "bbs-1",
                "opencode",
                "",
                stored,
                "",
                "",
                "",
                before.sessionId(),
                before.instanceId(),
                1,
                Optional.empty(),
                java.util.OptionalLong.empty()),
            RegistrationTest::backend,
            ServerSettings.DEFAULTS,
            1000);
    assertThat(after.fingerprint()).isEqualTo(before.fingerprint());
    assertThat(after.effective()).isEqualTo(before.effective());
    assertThat(BindingViews.config(after, Map.of(), "1"))
        .isEqualTo(BindingViews.config(before, Map.of(), "1"));
  }

  @Test
  void aPromptFileLiesUnderTheRootsIfThereAreSome(@TempDir Path directory) throws IOException {
    Path root = Files.createDirectory(directory.resolve("root"));
    Path link = Files.createSymbolicLink(directory.resolve("link"), root);
    Path inside = Files.writeString(root.resolve("p.txt"), "be brief");
    Path outside = Files.writeString(directory.resolve("secret.txt"), "s3cret");
    Path disguised = Files.createSymbolicLink(root.resolve("disguised"), outside);
    Path relative = root.resolve("../secret.txt");
    Path sibling = Files.createDirectory(directory.resolve("root2")).resolve("p.txt");
    Files.writeString(sibling, "no");
    List<Path> roots = List.of(directory.resolve("missing"), link);
    for (Path good : List.of(inside, link.resolve("p.txt"))) {
      assertThat(under(roots, good).systemPrompt().orElseThrow().text()).isEqualTo("be brief");
    }
    for (Path bad :
        List.of(outside, disguised, relative, sibling, root, directory.resolve("none"))) {
      assertThat(under(roots, bad).systemPrompt()).isEmpty();
      assertThat(under(roots, bad).promptFileLost().orElseThrow().text())
          .startsWith("system_prompt_file must be an existing regular file");
    }
    assertThat(under(List.of(), outside).systemPrompt()).isPresent();
  }

  @Test
  void theProxyIsToldOfTheSecretsInOptions() {
    Registration registration =
        check(request(Map.of("provider", Map.of("api_key", "sk-of-options")), Map.of(), null));
    ProxyBinding binding = AgentStarts.proxyBinding(registration, Secret.of("bbs-key"));
    assertThat(binding.secrets()).extracting(Secret::reveal).containsExactly("sk-of-options");
  }

  private static Registration under(List<Path> roots, Path file) {
    return Registration.check(
        request(Map.of(), Map.of(), file.toString()),
        RegistrationTest::backend,
        ServerSettings.DEFAULTS,
        1000,
        roots);
  }

  private static RegisterRequest request(
      Map<String, @Nullable Object> options,
      Map<String, Object> serverConfig,
      @Nullable String promptFile) {
    return new RegisterRequest(
        "opencode",
        "http://127.0.0.1:30000/v1",
        "/v1",
        Optional.of("sess-001"),
        Optional.of("inst-001"),
        Optional.empty(),
        Optional.ofNullable(promptFile),
        options,
        serverConfig);
  }

  private static Registration check(RegisterRequest request) {
    return Registration.check(request, RegistrationTest::backend, ServerSettings.DEFAULTS, 1000);
  }

  private static Optional<Backend> backend(String type) {
    return type.equals("opencode") ? Optional.of(new NamedBackend(type)) : Optional.empty();
  }

  private record NamedBackend(String type) implements Backend {
    @Override
    public Capabilities capabilities() {
      return Capabilities.STANDARD;
    }

    @Override
    public String systemPromptFile() {
      return "prompts/system.txt";
    }

    @Override
    public String systemPromptTarget() {
      return type;
    }

    @Override
    public Plan plan(Map<String, @Nullable Object> options) {
      throw new IllegalStateException("not started in these tests");
    }
  }
}
