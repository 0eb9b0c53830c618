package dev.blackbox.proxy;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Takes secrets out of a body: where they stand as they are, escaped in a JSON string, escaped in
 * JSON in a JSON string (arguments of tools), and where each piece of one is in another event of a
 * stream. A body is looked at, not understood: it may be cut or broken anywhere.
 */
final class Redaction {

  private static final byte[] MARK = "[redacted]".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] DATA_FIELD = "data:".getBytes(StandardCharsets.US_ASCII);

  /** Texts that go on over events and are told apart; what is beyond is taken for one. */
  private static final int TEXTS_MAX = 1000;

  /**
   * @param bytes of which {@code pieces} stretches were replaced by a mark
   */
  @SuppressWarnings("ArrayRecordComponent") // handed on; never compared
  record Redacted(byte[] bytes, int pieces) {}

  /** One text, as it is, unescaped, and unescaped twice. */
  private static final class Views implements TextTaker {
    private final SecretScan text;
    private final UnescapedText unescaped;

    Views(SecretTrie secrets, BitSet found) {
      text = new SecretScan(secrets, found);
      unescaped = new UnescapedText(new SecretScan(secrets, found));
    }

    @Override
    public void take(int value, int start, int end) {
      text.take(value, start, end);
      unescaped.take(value, start, end);
    }

    @Override
    public void end() {
      text.end();
      unescaped.end();
    }
  }

  private final byte[] body;
  private final SecretTrie secrets;
  private final BitSet found = new BitSet();
  private final JsonStrings strings;

  /** The inside of strings, unescaped, by their paths. */
  private final Map<String, UnescapedText> texts = new HashMap<>();

  private Redaction(byte[] body, SecretTrie secrets) {
    this.body = body;
    this.secrets = secrets;
    this.strings = new JsonStrings(body);
  }

  static Redacted of(byte[] body, SecretTrie secrets) {
    Redaction redaction = new Redaction(body, secrets);
    redaction.lookAtItAsItIs();
    redaction.lookAtItsTexts();
    return redaction.redacted();
  }

  private void lookAtItAsItIs() {
    SecretScan raw = new SecretScan(secrets, found);
    UnescapedText unescaped = new UnescapedText(new Views(secrets, found));
    for (int place = 0; place < body.length; place++) {
      raw.take(body[place] & 0xFF, place, place + 1);
      unescaped.take(body[place] & 0xFF, place, place + 1);
    }
    raw.end();
    unescaped.end();
  }

  private void lookAtItsTexts() {
    if (looksLikeJson()) {
      for (int place = 0; place < body.length; place++) {
        strings.take(place);
      }
    } else {
      lookAtEvents();
    }
    takeTexts();
    texts.values().forEach(UnescapedText::end);
  }

  private boolean looksLikeJson() {
    for (byte each : body) {
      if (!Character.isWhitespace(each)) {
        return each == '{' || each == '[';
      }
    }
    return false;
  }

  /** Source: server-sent events, section 9.2.6 of the HTML standard. */
  private void lookAtEvents() {
    int place = 0;
    while (place < body.length) {
      int end = place;
      while (end < body.length && body[end] != '\n' && body[end] != '\r') {
        end++;
      }
      if (end == place) {
        takeTexts();
      } else if (startsWithData(place)) {
        for (int at = place + DATA_FIELD.length; at < end; at++) {
          strings.take(at);
        }
      }
      boolean two = end + 1 < body.length && body[end] == '\r' && body[end + 1] == '\n';
      place = end + (two ? 2 : 1);
    }
  }

  private boolean startsWithData(int place) {
    for (int at = 0; at < DATA_FIELD.length; at++) {
      if (place + at >= body.length || body[place + at] != DATA_FIELD[at]) {
        return false;
      }
    }
    return true;
  }

  private void takeTexts() {
    List<JsonStrings.Text> whole = strings.end();
    for (JsonStrings.Text text : whole) {
      UnescapedText views = views(text.path());
      for (int place = text.start(); place < text.end(); place++) {
        views.take(body[place] & 0xFF, place, place + 1);
      }
      views.piece();
    }
  }

  private UnescapedText views(String path) {
    String name = texts.size() < TEXTS_MAX || texts.containsKey(path) ? path : "";
    return texts.computeIfAbsent(name, _ -> new UnescapedText(new Views(secrets, found)));
  }

  private Redacted redacted() {
    if (found.isEmpty()) {
      return new Redacted(body, 0);
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream(body.length);
    int pieces = 0;
    int kept = 0;
    for (int start = found.nextSetBit(0); start >= 0; start = found.nextSetBit(kept)) {
      out.write(body, kept, start - kept);
      out.writeBytes(MARK);
      kept = found.nextClearBit(start);
      pieces++;
    }
    out.write(body, kept, body.length - kept);
    return new Redacted(out.toByteArray(), pieces);
  }
}
