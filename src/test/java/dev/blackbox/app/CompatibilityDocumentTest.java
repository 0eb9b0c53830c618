package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.app.AllowedDifferences.Allowed;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** That docs/compatibility.md can be read as the list of allowed differences, and how it is. */
class CompatibilityDocumentTest {

  private static final List<String> HEAD =
      List.of("| Difference | Why | Probes |", "|---|---|---|");

  private static final String ANSWER =
      "{\"group\":\"g\",\"name\":\"%s\",\"status\":%d,\"content_type\":null,\"response_body\":%s}";

  @Test
  void theDocumentNamesProbesOnceEach() throws IOException {
    List<String> patterns = AllowedDifferences.read().stream().map(Allowed::pattern).toList();
    assertThat(patterns).isNotEmpty().doesNotHaveDuplicates();
  }

  @Test
  void aLineAllowsTheProbesThatItNamesAndNoOthers() {
    List<Allowed> allowed =
        AllowedDifferences.of(
            List.of(
                HEAD.get(0),
                HEAD.get(1),
                "| one \\| a | why | `idle/a-*`, `fail-*/b` |",
                "| two | why | |",
                "",
                "| three | `idle/c` |"));
    assertThat(allowed)
        .containsExactly(
            new Allowed("one \\| a", "idle/a-*"), new Allowed("one \\| a", "fail-*/b"));
    assertThat(allowed.getFirst().explains("idle/a-x")).isTrue();
    assertThat(allowed.getFirst().explains("idle/a")).isFalse();
    assertThat(allowed.getLast().explains("fail-x/b")).isTrue();
    assertThat(allowed.getLast().explains("fail-x/bc")).isFalse();
  }

  @Test
  void whatIsNoNameIsNotPassedOver() {
    assertThatThrownBy(
            () -> AllowedDifferences.of(List.of(HEAD.get(0), HEAD.get(1), "| x | y | all of it |")))
        .hasMessageContaining("all of it")
        .hasMessageContaining("\"x\"");
  }

  @Test
  void answersAreComparedButForTheirWords() {
    ProbeAnswers expected =
        ProbeAnswers.of(
            List.of(
                ANSWER.formatted("a", 400, "{\"error\":\"e\",\"message\":\"one\",\"n\":null}"),
                ANSWER.formatted("a", 200, "{\"list\":[1,{\"x\":1}]}"),
                ANSWER.formatted("b", 200, "null")));
    ProbeAnswers others =
        ProbeAnswers.of(
            List.of(
                ANSWER.formatted("a", 400, "{\"error\":\"e\",\"message\":\"two\"}"),
                ANSWER.formatted("a", 404, "{\"list\":[1,{\"x\":2}],\"more\":1}")));
    assertThat(expected.differencesOf(expected)).isEmpty();
    assertThat(expected.differencesOf(others))
        .containsOnlyKeys("g/a", "g/a.2", "g/b")
        .containsEntry("g/a", List.of("response_body.n is missing"))
        .containsEntry(
            "g/a.2",
            List.of(
                "status is 404, not 200",
                "response_body.list.1.x is 2, not 1",
                "response_body.more is more"));
  }
}
