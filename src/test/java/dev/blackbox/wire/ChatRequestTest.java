package dev.blackbox.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ChatRequestTest {

  private static final OptionalDouble NO_DEFAULT = OptionalDouble.empty();

  @Test
  void whatNeedsNoChangeIsTheSameArray() throws InvalidChatRequestException {
    byte[] body =
        utf8(" {\"messages\":[], \"stream\":true,\"stream_options\" : {\"include_usage\":true}}");
    assertThat(ChatRequest.read(body).bodyFor(OptionalDouble.empty(), OptionalLong.empty()))
        .isSameAs(body);
    byte[] cold = utf8("{\"messages\":[],\"temperature\":0.0}");
    assertThat(ChatRequest.read(cold).bodyFor(OptionalDouble.of(1.0), OptionalLong.empty()))
        .isSameAs(cold);
  }

  /** Before and after, with a default temperature of 0.5. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '\'',
      value = {
        "{\"messages\":[]} | {\"temperature\":0.5,\"messages\":[]}",
        "{ \"messages\": [1, {\"temperature\": null}] } |"
            + " {\"temperature\":0.5, \"messages\": [1, {\"temperature\": null}] }",
        "{\"temperature\" : null ,\"messages\":[]} | {\"temperature\" : 0.5 ,\"messages\":[]}",
        "{\"messages\":[],\"temperature\":1,\"stream\":true} |"
            + " {\"stream_options\":{\"include_usage\":true},"
            + "\"messages\":[],\"temperature\":1,\"stream\":true}",
        "{\"messages\":[],\"temperature\":1,\"stream\":true,\"stream_options\":null} |"
            + " {\"messages\":[],\"temperature\":1,\"stream\":true,"
            + "\"stream_options\":{\"include_usage\":true}}",
        "{\"stream_options\":{\"include_usage\":false,\"x\":[1]},\"messages\":[\"é🦜\"],"
            + "\"temperature\":1,\"stream\":true} |"
            + " {\"stream_options\":{\"include_usage\":true,\"x\":[1]},\"messages\":[\"é🦜\"],"
            + "\"temperature\":1,\"stream\":true}",
        "{\"stream_options\":7,\"messages\":[],\"temperature\":1,\"stream\":true} |"
            + " {\"stream_options\":{\"include_usage\":true},\"messages\":[],"
            + "\"temperature\":1,\"stream\":true}",
        "{\"temperature\":1,\"messages\":[],\"stream_options\":{\"include_usage\":true}} |"
            + " {\"temperature\":1,\"messages\":[]}",
        "{\"stream_options\":{},\"temperature\":1,\"messages\":[]} |"
            + " {\"temperature\":1,\"messages\":[]}",
        "{\"temperature\":1, \"stream_options\":{}, \"messages\":[],\"stream\":false} |"
            + " {\"temperature\":1, \"messages\":[],\"stream\":false}"
      })
  void onlyWhatMustChangeChanges(String before, String after) throws Exception {
    byte[] changed =
        ChatRequest.read(utf8(before)).bodyFor(OptionalDouble.of(0.5), OptionalLong.empty());
    assertThat(new String(changed, StandardCharsets.UTF_8)).isEqualTo(after);
    assertThat(Json.parse(changed)).isNotNull();
  }

  @Test
  void everythingElseKeepsItsBytes() throws InvalidChatRequestException {
    String rest =
        "\"messages\" : [ {\"content\":\"\\u00e9\\/\\ud83e\\udd9c 🦜 \\\\ud83d\"} ],"
            + "\"a\":1e400,\"b\":12345678901234567890123456789,\"c\":-0.0,\"d\":{\"d\":{}},"
            + "\"e\":\"\",\"stream\":true }";
    byte[] changed =
        ChatRequest.read(utf8("{" + rest)).bodyFor(OptionalDouble.of(0.25), OptionalLong.empty());
    String text = new String(changed, StandardCharsets.UTF_8);
    assertThat(text).endsWith(rest);
    assertThat(text.substring(0, text.length() - rest.length()))
        .contains("\"temperature\":0.25")
        .contains("\"stream_options\":{\"include_usage\":true}");
  }

  @Test
  void whatIsAskedForIsRead() throws InvalidChatRequestException {
    ChatRequest request =
        ChatRequest.read(
            utf8("{\"model\":\"a\\u00e9\",\"n\":3,\"stream\":true,\"messages\":[{}]}"));
    assertThat(request.model()).isEqualTo("aé");
    assertThat(request.choices()).isEqualTo(3);
    assertThat(request.stream()).isTrue();
    ChatRequest bare =
        ChatRequest.read(utf8("{\"model\":null,\"n\":null,\"stream\":null,\"messages\":[]}"));
    assertThat(bare.model()).isEmpty();
    assertThat(bare.choices()).isEqualTo(1);
    assertThat(bare.stream()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "nonsense",
        "{",
        "{}",
        "[]",
        "null",
        "\"x\"",
        "{\"messages\":\"x\"}",
        "{\"messages\":[]}}",
        "{\"messages\":[],}",
        "{\"messages\":[NaN]}",
        "{\"messages\":[],\"stream\":1}",
        "{\"messages\":[],\"stream\":\"true\"}",
        "{\"messages\":[],\"model\":5}",
        "{\"messages\":[],\"n\":0}",
        "{\"messages\":[],\"n\":1.5}",
        "{\"messages\":[],\"stream\":true,\"stream\":false}",
        "{\"messages\":[\"\\ud83d\"]}",
        "{\"messages\":[\"\\udd9c\"]}",
        "{\"messages\":[\"\\ud83d x\"]}",
        "{\"messages\":[\"\\ud83d\\ud83d\"]}",
        "{\"messages\":[\"\\\\\\uD83D\"]}"
      })
  void whatIsNoRequestIsRefusedWithoutRepeatingIt(String body) {
    assertThatThrownBy(() -> ChatRequest.read(utf8(body)))
        .isInstanceOf(InvalidChatRequestException.class)
        .hasMessageNotContaining("nonsense");
  }

  @Test
  void bytesThatAreNotUtf8AreRefused() {
    byte[] surrogate = utf8("{\"messages\":[\"xyz\"]}");
    // U+D800 as three bytes, as some encoders write it.
    surrogate[14] = (byte) 0xED;
    surrogate[15] = (byte) 0xA0;
    surrogate[16] = (byte) 0x80;
    assertThatThrownBy(() -> ChatRequest.read(surrogate))
        .isInstanceOf(InvalidChatRequestException.class)
        .hasMessageContaining("UTF-8 at byte 14");
    byte[] latin1 = "{\"messages\":[\"é\"]}".getBytes(StandardCharsets.ISO_8859_1);
    assertThatThrownBy(() -> ChatRequest.read(latin1))
        .isInstanceOf(InvalidChatRequestException.class);
    byte[] utf16 = "{\"messages\":[]}".getBytes(StandardCharsets.UTF_16LE);
    assertThatThrownBy(() -> ChatRequest.read(utf16))
        .isInstanceOf(InvalidChatRequestException.class)
        .hasMessageContaining("UTF-8");
    byte[] gzip = {0x1f, (byte) 0x8b, 8, 0, 0};
    assertThatThrownBy(() -> ChatRequest.read(gzip))
        .isInstanceOf(InvalidChatRequestException.class);
  }

  @Test
  void byteOrderMarkDoesNotShiftTheChange() throws Exception {
    byte[] changed =
        ChatRequest.read(utf8("\uFEFF{\"messages\":[],\"temperature\":null}"))
            .bodyFor(OptionalDouble.of(0.5), OptionalLong.empty());
    assertThat(new String(changed, StandardCharsets.UTF_8))
        .isEqualTo("\uFEFF{\"messages\":[],\"temperature\":0.5}");
  }

  @Test
  void p10DepthIsBounded() {
    String deep = "[".repeat(500) + "]".repeat(500);
    assertThatThrownBy(() -> ChatRequest.read(utf8("{\"messages\":" + deep + "}")))
        .isInstanceOf(InvalidChatRequestException.class);
  }

  @Test
  void largeBodiesAreChangedInPlace() throws Exception {
    String rest =
        "\"messages\":[{\"content\":\"" + "é🦜x".repeat(100_000) + "\"}],\"temperature\" : null}";
    byte[] changed =
        ChatRequest.read(utf8("{" + rest)).bodyFor(OptionalDouble.of(0.5), OptionalLong.empty());
    assertThat(new String(changed, StandardCharsets.UTF_8))
        .isEqualTo("{" + rest.replace("null", "0.5"));
    assertThat(ChatRequest.read(changed).bodyFor(NO_DEFAULT, OptionalLong.empty()))
        .isSameAs(changed);
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void theAnswersLengthIsLoweredUnderTheNameThatWasUsed() throws Exception {
    OptionalLong allowed = OptionalLong.of(7);
    for (String name : List.of("max_tokens", "max_completion_tokens")) {
      byte[] body = utf8("{\"" + name + "\": 90, \"messages\":[]}");
      assertThat(
              new String(
                  ChatRequest.read(body).bodyFor(NO_DEFAULT, allowed), StandardCharsets.UTF_8))
          .isEqualTo("{\"" + name + "\": 7, \"messages\":[]}");
    }
    byte[] none = utf8("{\"messages\":[]}");
    assertThat(
            new String(ChatRequest.read(none).bodyFor(NO_DEFAULT, allowed), StandardCharsets.UTF_8))
        .isEqualTo("{\"max_tokens\":7,\"messages\":[]}");
  }
}
