package dev.blackbox.wire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The golden values are the reference server's own. */
class FingerprintsTest {

  /** Ledgers have fingerprints of numbers in this spelling: it must stay theirs. */
  @Test
  void numbersOfRequestsAreDoublesAndIntegersAsEver() throws MalformedJsonException {
    byte[] body = "{\"b\":[1.10,1e2,-0,1e400],\"a\":12345678901234567890.5}".getBytes(UTF_8);
    Object tree = RequestJson.parse(body);
    assertThat(Fingerprints.canonical(List.of(tree == null ? "" : tree)))
        .isEqualTo("[{\"a\":1.2345678901234567E19,\"b\":[1.1,100.0,0,\"Infinity\"]}]");
  }

  @Test
  void aUserMessage() {
    assertThat(Fingerprints.canonical(List.of(Message.user("hello"))))
        .isEqualTo("[{\"content\":\"hello\",\"role\":\"user\"}]");
    assertThat(Fingerprints.of(List.of(Message.user("hello"))))
        .isEqualTo("d98167dd28f22e330824942ba4d4ce217c2411a0d1141d60b40fe4cb8dc0d232");
  }

  @Test
  void aMessageWithReasoningAndAToolCall() {
    Message message =
        new Message(
            "user",
            "héllo\n\"",
            "r",
            List.of(Message.ToolCall.function("1", "f", "{}")),
            null,
            null);
    assertThat(Fingerprints.of(List.of(message)))
        .isEqualTo("42846b72b5db5f769a13ac247acd65b790b3010806b1e3e68619d8ef0ef59015");
  }

  @Test
  void aBinding() {
    assertThat(Fingerprints.of(binding(Map.of(), Map.of())))
        .isEqualTo("f21ed0f317306a7130d2178bf60ca1c6a2ecee498c1243ba810bc873d929d1ee");
  }

  @Test
  void aBindingWithOptionsAndSettings() {
    Map<String, @Nullable Object> inner = new LinkedHashMap<>();
    inner.put("x", null);
    inner.put("y", 1.0);
    Map<String, Object> options = new LinkedHashMap<>();
    options.put("b", 1);
    options.put("a", Arrays.asList(null, inner));
    assertThat(Fingerprints.of(binding(options, Map.of("max_turns", 3))))
        .isEqualTo("856f7adce23247591c9433c0a21b0f6c339cf9617ef3d021952bf27740bda20b");
  }

  private static Map<String, @Nullable Object> binding(
      Map<String, ?> options, Map<String, ?> settings) {
    Map<String, @Nullable Object> binding = new LinkedHashMap<>();
    binding.put("blackbox_type", "opencode");
    binding.put("router_base_url", "http://127.0.0.1:30000/v1");
    binding.put("bound_session_id", "sess-001");
    binding.put("bound_instance_id", "inst-001");
    binding.put("bound_sandbox_id", null);
    binding.put("system_prompt_file", null);
    binding.put("backend_options", options);
    binding.put("server_config", settings);
    return binding;
  }

  @Test
  void orderOfKeysAndNullEntriesDoNotCountButListsDo() {
    Map<String, @Nullable Object> withNull = new LinkedHashMap<>();
    withNull.put("b", 2);
    withNull.put("n", null);
    withNull.put("a", List.of(1, 2));
    assertThat(Fingerprints.canonical(withNull)).isEqualTo("{\"a\":[1,2],\"b\":2}");
    assertThat(Fingerprints.of(Map.of("a", List.of(2, 1))))
        .isNotEqualTo(Fingerprints.of(Map.of("a", List.of(1, 2))));
    assertThat(Fingerprints.canonical(Arrays.asList(null, 1))).isEqualTo("[null,1]");
  }
}
