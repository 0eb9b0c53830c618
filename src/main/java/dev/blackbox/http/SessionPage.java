package dev.blackbox.http;

import dev.blackbox.control.Rollout;
import dev.blackbox.turn.SessionSnapshot;
import dev.blackbox.turn.TurnSnapshot;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.Message;
import dev.blackbox.wire.TraceEvent;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStream;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A session as {@code GET /v1/sessions/{id}} shows it, written turn by turn, so that a history of
 * any length takes the memory of one turn. Parts that were not asked for are null. If there are
 * more turns than the range takes, the page ends with {@code next_offset}, where the next one
 * begins.
 */
record SessionPage(
    Rollout rollout,
    Rollout.SessionView view,
    boolean history,
    boolean trace,
    boolean turns,
    Range range)
    implements Answer.Writing {

  /**
   * Which turns, counted from the oldest.
   *
   * @param offset turns that are passed over
   * @param limit turns that are told of after that
   */
  record Range(int offset, int limit) {}

  @Override
  public void writeTo(OutputStream out, String requestId) throws IOException {
    Writer writer = new BufferedWriter(new OutputStreamWriter(out, StandardCharsets.UTF_8));
    Map<String, @Nullable Object> head = Answers.fields("request_id", requestId);
    head.putAll(Answers.session(view));
    String headJson = Json.write(head);
    writer.append(headJson, 0, headJson.length() - 1);
    writer.append(",\"conversation_history\":");
    boolean more = list(writer, history, promptMessage(), SessionPage::messages);
    writer.append(",\"trace_events\":");
    more |= list(writer, trace, promptEvent(), SessionPage::events);
    writer.append(",\"turn_ledger\":");
    if (turns) {
      more |= section(writer, '{', '}', "", SessionPage::ledgerEntry);
    } else {
      writer.append("null");
    }
    if (more) {
      writer.append(",\"next_offset\":").append(String.valueOf(range.offset + range.limit));
    }
    writer.append('}');
    writer.flush();
  }

  private boolean list(
      Writer writer, boolean wanted, String first, Function<TurnSnapshot, String> items)
      throws IOException {
    if (!wanted) {
      writer.append("null");
      return false;
    }
    // What stands before all turns is on the first page only.
    return section(writer, '[', ']', range.offset == 0 ? first : "", items);
  }

  /**
   * Writes what {@code items} makes of each turn, between commas; nothing where it is empty.
   *
   * @return true if there are turns behind the range
   */
  private boolean section(
      Writer writer, char open, char close, String first, Function<TurnSnapshot, String> items)
      throws IOException {
    writer.append(open).append(first);
    Separated separated = new Separated(writer, !first.isEmpty());
    boolean more = false;
    try {
      rollout.forEachTurn(
          view.session().key(), inRange(turn -> separated.append(items.apply(turn))));
    } catch (PageFull full) {
      more = true;
    }
    writer.append(close);
    return more;
  }

  private Consumer<TurnSnapshot> inRange(Consumer<TurnSnapshot> reader) {
    long end = (long) range.offset + range.limit;
    long[] seen = {0};
    return turn -> {
      long number = seen[0]++;
      if (number >= end) {
        throw new PageFull();
      }
      if (number >= range.offset) {
        reader.accept(turn);
      }
    };
  }

  /** Stops the reading of turns; the port has no other way, and the rest may be long. */
  private static final class PageFull extends RuntimeException {
    PageFull() {
      super("the page is full", null, false, false);
    }
  }

  private String promptMessage() {
    return view.session()
        .systemPrompt()
        .map(prompt -> new Message("system", prompt.text(), null, null, null, null))
        .map(Json::write)
        .orElse("");
  }

  private String promptEvent() {
    SessionSnapshot session = view.session();
    return session
        .systemPrompt()
        .map(
            prompt ->
                TraceEvent.of(
                    "__init__",
                    0,
                    "blackbox_server",
                    "system_prompt_injected",
                    Answers.fields(
                        "source_file",
                        prompt.sourceFile(),
                        "content_length",
                        prompt.text().codePointCount(0, prompt.text().length())),
                    session.createdAt()))
        .map(Json::write)
        .orElse("");
  }

  /** Request and answer of a turn that was answered; a turn without an answer is no history. */
  private static String messages(TurnSnapshot turn) {
    return Answers.answeredWork(turn)
        .map(work -> joined(inner(turn.requestJson()), inner(work.outputsJson())))
        .orElse("");
  }

  /** All that the agent reported, also in a turn that failed. */
  private static String events(TurnSnapshot turn) {
    return turn.settlement().map(end -> inner(end.outcome().work().traceJson())).orElse("");
  }

  private static String ledgerEntry(TurnSnapshot turn) {
    return Json.write(turn.key().turnId().value()) + ":" + Json.write(Answers.ledgerEntry(turn));
  }

  private static String joined(String left, String right) {
    return left.isEmpty() || right.isEmpty() ? left + right : left + "," + right;
  }

  /** The items of a stored JSON array, without its brackets. */
  private static String inner(String array) {
    String text = array.strip();
    return text.substring(1, text.length() - 1).strip();
  }

  private static final class Separated {
    private final Writer writer;
    private boolean any;

    Separated(Writer writer, boolean any) {
      this.writer = writer;
      this.any = any;
    }

    void append(String items) {
      if (items.isEmpty()) {
        return;
      }
      try {
        writer.append(any ? "," : "").append(items);
      } catch (IOException impossible) {
        throw new UncheckedIOException("a client stream reports its loss itself", impossible);
      }
      any = true;
    }
  }
}
