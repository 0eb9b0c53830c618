package dev.blackbox.agent;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NameBasedUuidTest {

  /** Source: the reference server's golden values. */
  @ParameterizedTest
  @CsvSource({
    "inst-001:sess-001, d8c222b3-353c-5b21-9dfe-71b0186b1075",
    "codex:inst-001:sess-001, b454db9c-27b3-587d-8640-8845c1649f7a",
  })
  void namesHaveTheirIds(String name, String id) {
    assertThat(NameBasedUuid.of(name)).hasToString(id);
    assertThat(NameBasedUuid.of(name).version()).isEqualTo(5);
  }
}
