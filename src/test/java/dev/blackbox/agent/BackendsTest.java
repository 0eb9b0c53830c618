package dev.blackbox.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BackendsTest {

  @TempDir Path directory;

  @Test
  void theTableKnowsMoreThanItHas() {
    try (AgentFixture fixture = new AgentFixture(directory)) {
      Backends backends = Backends.standard(Map.of(), fixture.processes, Optional.empty());

      assertThat(backends.knownTypes())
          .containsExactly("opencode", "openclaw", "claude_code", "codex");
      assertThat(backends.implementedTypes())
          .containsExactly("opencode", "openclaw", "claude_code", "codex");
      assertThat(backends.find("opencode")).get().extracting(Backend::type).isEqualTo("opencode");
      assertThat(backends.find("Opencode")).isEmpty();
      assertThat(backends.find("script")).isEmpty();
    }
  }

  @Test
  void theScriptIsThereOnlyIfTheOperatorChoseOne() {
    try (AgentFixture fixture = new AgentFixture(directory)) {
      Backends backends =
          Backends.standard(Map.of(), fixture.processes, Optional.of(Path.of("/bin/cat")));

      assertThat(backends.implementedTypes())
          .containsExactly("opencode", "openclaw", "claude_code", "codex", "script");
      assertThat(backends.knownTypes()).endsWith("script");
    }
  }
}
