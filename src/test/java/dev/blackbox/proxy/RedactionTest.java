package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.kernel.Secret;
import dev.blackbox.wire.Json;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No secret is left in a body, whole or in pieces, as it is or escaped; all else is. */
class RedactionTest {

  private static final String SECRET = "sk-aB3dE5-gH7";

  /** Must be escaped in JSON, and twice in JSON in JSON. */
  private static final String AWKWARD = "p\"w\\d/é\n3xyz";

  private static final String MARK = "[redacted]";

  private static Redaction.Redacted redacted(String body, String... secrets) {
    return Redaction.of(body.getBytes(StandardCharsets.UTF_8), trie(secrets));
  }

  private static String clean(String body, String... secrets) {
    return new String(redacted(body, secrets).bytes(), StandardCharsets.UTF_8);
  }

  private static SecretTrie trie(String... secrets) {
    return new SecretTrie(
        Arrays.stream(secrets).map(each -> each.getBytes(StandardCharsets.UTF_8)).toList());
  }

  private static String event(String delta) {
    return "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{" + delta + "}}]}\n\n";
  }

  private static String inJson(String text) {
    String quoted = Json.write(text);
    return quoted.substring(1, quoted.length() - 1);
  }

  /** A stream whose events have these pieces in this member. */
  private static String stream(String member, List<String> pieces) {
    StringBuilder stream = new StringBuilder(event("\"role\":\"assistant\""));
    for (String piece : pieces) {
      stream.append(event(member.replace("@", inJson(piece))));
    }
    return stream.append("data: [DONE]\n\n").toString();
  }

  /** The pieces of a member in a stream, as an agent would get them. */
  private static String joined(String stream, String... path) {
    StringBuilder text = new StringBuilder();
    for (String line : stream.lines().toList()) {
      if (line.startsWith("data: {")) {
        Object at = Json.object(line.substring("data: ".length()));
        for (String name : path) {
          at = at instanceof List<?> list ? list.get(0) : at;
          at = at instanceof Map<?, ?> object ? object.get(name) : null;
        }
        text.append(at == null ? "" : at);
      }
    }
    return text.toString();
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"content\":\"@\"", "\"reasoning_content\":\"@\"", "\"refusal\":\"@\""})
  void aSecretInTwoEventsOrMoreIsTakenOutWhereverItIsSplit(String member) {
    String name = member.substring(1, member.indexOf('"', 1));
    String text = "It is " + SECRET + ", says é.";
    for (int first = 0; first <= text.length(); first++) {
      for (int second = first; second <= text.length(); second++) {
        String stream =
            stream(
                member,
                List.of(
                    text.substring(0, first),
                    text.substring(first, second),
                    text.substring(second)));
        String left = joined(clean(stream, SECRET), "choices", "delta", name);
        assertThat(left).isNotEqualTo(text).startsWith("It is ").endsWith(", says é.");
        assertThat(left.replace(MARK, "")).isEqualTo("It is , says é.");
      }
    }
  }

  @Test
  void eachPieceOfOneCharacterIsTakenOut() {
    List<String> pieces = List.of(("a" + SECRET + "b").split(""));
    Redaction.Redacted redacted = redacted(stream("\"content\":\"@\"", pieces), SECRET);
    assertThat(redacted.pieces()).isEqualTo(SECRET.length());
    assertThat(
            joined(
                new String(redacted.bytes(), StandardCharsets.UTF_8),
                "choices",
                "delta",
                "content"))
        .isEqualTo("a" + MARK.repeat(SECRET.length()) + "b");
  }

  @Test
  void argumentsOfToolsAreJsonInJson() {
    String arguments = Json.write(Map.of("password", AWKWARD));
    String member = "\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"@\"}}]";
    for (int first = 0; first <= arguments.length(); first++) {
      String stream =
          stream(member, List.of(arguments.substring(0, first), arguments.substring(first)));
      String left =
          joined(clean(stream, AWKWARD), "choices", "delta", "tool_calls", "function", "arguments");
      assertThat(left.replace(MARK, "")).isEqualTo("{\"password\":\"\"}");
    }
  }

  @Test
  void callsOfToolsSideBySideAreToldApartAlsoByAnIndexThatComesLast() {
    String one = "\"tool_calls\":[{\"function\":{\"arguments\":\"@\"},\"index\":0}]";
    String two = "\"tool_calls\":[{\"index\":1,\"function\":{\"arguments\":\"@\"}}]";
    for (int split = 1; split < SECRET.length(); split++) {
      String stream =
          event(one.replace("@", SECRET.substring(0, split)))
              + event(two.replace("@", "other"))
              + event(one.replace("@", SECRET.substring(split)));
      assertThat(clean(stream, SECRET))
          .isEqualTo(
              event(one.replace("@", MARK))
                  + event(two.replace("@", "other"))
                  + event(one.replace("@", MARK)));
    }
  }

  @Test
  void choicesSideBySideAreToldApart() {
    String form = "data: {\"choices\":[{\"index\":%d,\"delta\":{\"content\":\"%s\"}}]}\n\n";
    String stream =
        form.formatted(0, SECRET.substring(0, 5))
            + form.formatted(1, "no")
            + form.formatted(0, SECRET.substring(5));
    assertThat(clean(stream, SECRET))
        .isEqualTo(form.formatted(0, MARK) + form.formatted(1, "no") + form.formatted(0, MARK));
  }

  @Test
  void escapesOfEveryKindAreSeenThrough() {
    String unicode = AWKWARD.chars().mapToObj("\\u%04x"::formatted).reduce("", String::concat);
    for (String form : List.of(inJson(AWKWARD), inJson(AWKWARD).replace("/", "\\/"), unicode)) {
      assertThat(clean("{\"a\":\"x" + form + "y\",\"" + form + "\":1}", AWKWARD))
          .isEqualTo("{\"a\":\"x" + MARK + "y\",\"" + MARK + "\":1}");
      String twice = inJson(form);
      assertThat(clean("{\"a\":\"x" + twice + "y\"}", AWKWARD))
          .isEqualTo("{\"a\":\"x" + MARK + "y\"}");
    }
    assertThat(clean("not JSON: " + AWKWARD, AWKWARD)).isEqualTo("not JSON: " + MARK);
  }

  @ParameterizedTest
  @ValueSource(strings = {"\n", "\r", "\r\n"})
  void eventsMayHaveAnyLineEndsAndCommentsAndManyLines(String end) {
    String stream =
        """
        : hi
        event: x
        data:{"choices":
        data: [{"delta":{"content":"sk-aB"}}]}

        data:{"choices":[{"delta":{"content":"3dE5-gH7"}}]}

        """
            .replace("\n", end);
    assertThat(clean(stream, SECRET))
        .isEqualTo(stream.replace("sk-aB", MARK).replace("3dE5-gH7", MARK));
  }

  @Test
  void aBodyThatIsCutAnywhereHasNoBeginningOfASecretAtItsEnd() {
    String text = "so: " + SECRET + "!";
    String stream = stream("\"content\":\"@\"", List.of(text.substring(0, 9), text.substring(9)));
    for (int length = 0; length <= stream.length(); length++) {
      String left = clean(stream.substring(0, length), SECRET);
      assertThat(left).doesNotContain(SECRET.substring(0, 4), "3dE5");
    }
    // Of what is no beginning, all is left.
    assertThat(clean("{\"a\":\"sk-\"}", SECRET)).isEqualTo("{\"a\":\"sk-\"}");
  }

  @Test
  void keysThatThisProgramMadeAreKnownByTheirForm() {
    Secret binding = Secret.random("bbs-");
    for (Secret made :
        List.of(
            binding,
            TurnSecrets.issue(binding),
            Secret.random("bbs-opencode-"),
            Secret.random("bbs-openclaw-"))) {
      String key = made.reveal();
      assertThat(clean("KEY=bbbs" + key + "\n")).isEqualTo("KEY=bbbs" + MARK + "\n");
      for (int split = 1; split < key.length(); split++) {
        String stream =
            stream("\"content\":\"@\"", List.of(key.substring(0, split), key.substring(split)));
        assertThat(joined(clean(stream), "choices", "delta", "content")).isEqualTo(MARK + MARK);
      }
    }
    String innocent = "bbs-turn-key bbs-" + "a".repeat(63) + " " + "0f".repeat(32) + " bbs-";
    assertThat(clean(innocent)).isEqualTo(innocent);
  }

  @Test
  void ofManySecretsInOneAnotherEveryOneIsFound() {
    Random random = new Random(7);
    for (int round = 0; round < 2_000; round++) {
      List<String> secrets = new ArrayList<>();
      for (int each = 0; each < 4; each++) {
        secrets.add(letters(random, 4 + random.nextInt(5)));
      }
      String body = "<" + letters(random, 60) + ">";
      boolean[] found = new boolean[body.length()];
      for (String secret : secrets) {
        for (int at = body.indexOf(secret); at >= 0; at = body.indexOf(secret, at + 1)) {
          Arrays.fill(found, at, at + secret.length(), true);
        }
      }
      StringBuilder expected = new StringBuilder();
      for (int at = 0; at < body.length(); at++) {
        expected.append(found[at] ? found[at - 1] ? "" : MARK : body.substring(at, at + 1));
      }
      assertThat(clean(body, secrets.toArray(new String[0])))
          .as("round %d: %s in %s", round, secrets, body)
          .isEqualTo(expected.toString());
    }
  }

  private static String letters(Random random, int count) {
    StringBuilder letters = new StringBuilder();
    for (int each = 0; each < count; each++) {
      letters.append((char) ('a' + random.nextInt(2)));
    }
    return letters.toString();
  }

  @Test
  void anyBodyAtAllIsLookedAtAndLeftAloneIfThereIsNothing() {
    Random random = new Random(3);
    byte[] alphabet = "{}[]\":,\\u0ab\n\rdata: index7é".getBytes(StandardCharsets.UTF_8);
    for (int round = 0; round < 5_000; round++) {
      byte[] body = new byte[random.nextInt(80)];
      for (int at = 0; at < body.length; at++) {
        body[at] = alphabet[random.nextInt(alphabet.length)];
      }
      assertThat(Redaction.of(body, trie(SECRET)).bytes()).isSameAs(body);
    }
    String deep = "[".repeat(5_000) + "\"" + SECRET + "\"" + "]".repeat(5_000);
    assertThat(clean(deep, SECRET)).isEqualTo(deep.replace(SECRET, MARK));
  }
}
