package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.app.engine.Fault;
import dev.blackbox.app.engine.Step;
import dev.blackbox.wire.Json;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Each fault of an engine, plain and streamed; what the agent is told, what the call's record says,
 * and what the turn says. The engine never gets well.
 */
final class FaultTable {

  /**
   * Columns:
   *
   * <ul>
   *   <li>agent: <i>plain</i>, instead of a plain answer; <i>early</i>, instead of a streamed one;
   *       <i>late</i>, within a streamed one
   *   <li>chat: the status for an agent that speaks chat completions, if nothing has gone out. The
   *       others get 400, at which they do not try again
   *   <li>record: the engine's status, the call's verdict and the proxy's retries
   *   <li>turn: the status in the turn's verdict
   * </ul>
   *
   * {@code *}: the end of the connection may take the engine's head with it.
   */
  private static final String TABLE =
      """
      fault                   | agent             | chat | record                     | turn
      no answer               | plain, early      | 502  | 0    truncated           2 | 0
      cut                     | plain             | 502  | 200  truncated           2 | 502
      cut                     | early             | 502  | *    truncated           2 | *
      cut later               | late              |      | 200  truncated           0 | 502
      reset                   | plain, early      | 502  | *    truncated           2 | *
      reset later             | late              |      | 200  truncated           0 | 502
      silence                 | plain, early      | 504  | 0    timeout             0 | 0
      stall                   | plain, early      | 504  | 200  timeout             0 | 504
      stall later             | late              |      | 200  timeout             0 | 504
      end                     | early             | 502  | 200  truncated           0 | 502
      end                     | plain             | 502  | 200  upstream_error      0 | 502
      end later               | late              |      | 200  truncated           0 | 502
      no finish reason        | late              |      | 200  truncated           0 | 502
      no finish reason        | plain             | 502  | 200  truncated           0 | 502
      given up by the engine  | plain             | 502  | 200  upstream_error      0 | 502
      given up by the engine  | late              |      | 200  upstream_error      0 | 502
      only [DONE]             | early             | 502  | 200  truncated           0 | 502
      error frame             | early             | 502  | 200  upstream_error      0 | 502
      error frame later       | late              |      | 200  upstream_error      0 | 502
      error frame at the end  | late              |      | 200  upstream_error      0 | 502
      error frame, text       | early             | 502  | 200  upstream_error      0 | 502
      error frame, nested     | early             | 502  | 200  upstream_error      0 | 502
      error frame, status     | early             | 503  | 200  upstream_error      2 | 503
      error frame, status lat.| late              |      | 200  upstream_error      0 | 503
      nonsense event          | early             | 502  | 200  upstream_error      0 | 502
      nonsense event later    | late              |      | 200  upstream_error      0 | 502
      half an event           | early             | 502  | 200  truncated           0 | 502
      half an event later     | late              |      | 200  truncated           0 | 502
      too long an event       | early             | 502  | 200  upstream_error      0 | 502
      too long an event later | late              |      | 200  upstream_error      0 | 502
      a plain answer          | early             | 502  | 200  upstream_error      0 | 502
      a stream                | plain             | 502  | 200  upstream_error      0 | 502
      HTML                    | plain, early      | 502  | 200  upstream_error      0 | 502
      HTML with 502           | plain, early      | 502  | 502  upstream_error      2 | 502
      200 with an error       | plain, early      | 502  | 200  upstream_error      0 | 502
      200 with error 429      | plain, early      | 429  | 200  upstream_error      2 | 429
      200 with nothing        | plain, early      | 502  | 200  upstream_error      0 | 502
      redirect                | plain, early      | 502  | 307  upstream_error      0 | 502
      429                     | plain, early      | 429  | 429  upstream_error      2 | 429
      500                     | plain, early      | 500  | 500  upstream_error      2 | 500
      503                     | plain, early      | 503  | 503  upstream_error      2 | 503
      """;

  static final Duration LONG = Duration.ofSeconds(30);
  static final Step TEXT = Step.text("a longer answer in several events");

  /** Events of {@link #TEXT} before its last text. */
  private static final int LATER = 2;

  /** Events of {@link #TEXT} up to its finish reason. */
  private static final int FINISHED = 7;

  private static final String ERROR = "{\"error\":{\"message\":\"boom\"}}";
  private static final String ANSWER =
      "{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"par\"},"
          + "\"finish_reason\":";

  static final Map<String, Step> FAULTS = faults();

  private static Map<String, Step> faults() {
    Map<String, Step> faults = new LinkedHashMap<>();
    faults.put("no answer", TEXT.with(new Fault.NoAnswer()));
    faults.put("cut", TEXT.with(new Fault.CutAfterEvents(0, false)));
    faults.put("cut later", TEXT.with(new Fault.CutAfterEvents(LATER, false)));
    faults.put("reset", TEXT.with(new Fault.CutAfterEvents(0, true)));
    // Slowly, so that the events before the reset are read before it.
    faults.put(
        "reset later",
        TEXT.with(new Fault.CutAfterEvents(LATER + 1, true))
            .withDelayBetweenEvents(Duration.ofMillis(200)));
    faults.put("silence", TEXT.withDelayBeforeFirst(LONG));
    faults.put("stall", TEXT.with(new Fault.Stall(0, LONG)));
    faults.put("stall later", TEXT.with(new Fault.Stall(LATER, LONG)));
    faults.put("end", TEXT.with(new Fault.EndAfterEvents(0)));
    faults.put("end later", TEXT.with(new Fault.EndAfterEvents(LATER)));
    faults.put("given up by the engine", TEXT.withFinishReason("abort"));
    insert(faults, "only [DONE]", 0, "data: [DONE]\n\n");
    insert(faults, "error frame", 0, "data: " + ERROR + "\n\ndata: [DONE]\n\n");
    insert(faults, "error frame later", LATER, "data: " + ERROR + "\n\ndata: [DONE]\n\n");
    insert(faults, "error frame at the end", FINISHED, "data: " + ERROR + "\n\ndata: [DONE]\n\n");
    insert(faults, "error frame, text", 0, "data: {\"error\":\"boom\"}\n\n");
    insert(faults, "error frame, nested", 0, "data: {\"error\":" + ERROR + "}\n\n");
    String status = "data: {\"error\":{\"message\":\"boom\",\"status_code\":503}}\n\n";
    insert(faults, "error frame, status", 0, status);
    insert(faults, "error frame, status lat.", LATER, status);
    insert(faults, "nonsense event", 0, "data: nonsense\n\n");
    insert(faults, "nonsense event later", LATER, "data: nonsense\n\n");
    insert(faults, "half an event", 0, "data: {\"choices\":[{\"d");
    insert(faults, "half an event later", LATER, "data: {\"choices\":[{\"d");
    String tooLong = "data: \"" + "x".repeat(1 << 20) + "\"\n\n";
    insert(faults, "too long an event", 0, tooLong);
    insert(faults, "too long an event later", LATER, tooLong);
    instead(faults, "a plain answer", 200, ANSWER + "\"stop\"}]}");
    instead(faults, "a stream", 200, "data: {\"choices\":[]}\n\ndata: [DONE]\n\n");
    html(faults, "HTML", 200);
    html(faults, "HTML with 502", 502);
    instead(faults, "200 with an error", 200, ERROR);
    instead(faults, "200 with error 429", 200, "{\"error\":{\"message\":\"boom\",\"code\":429}}");
    instead(faults, "200 with nothing", 200, "");
    instead(faults, "redirect", 307, "{}");
    for (int error : new int[] {429, 500, 503}) {
      instead(faults, Integer.toString(error), error, ERROR);
    }
    return faults;
  }

  private static void insert(Map<String, Step> faults, String name, int events, String text) {
    faults.put(name, TEXT.with(new Fault.InsertAfterEvents(events, text)));
  }

  private static void instead(Map<String, Step> faults, String name, int status, String json) {
    faults.put(name, TEXT.with(Fault.Instead.error(status, json)));
  }

  private static void html(Map<String, Step> faults, String name, int status) {
    String page = "<html>Bad Gateway</html>";
    faults.put(name, TEXT.with(new Fault.Instead(status, "text/html", page, Optional.empty())));
  }

  /** In a plain answer this is another fault than in a stream. */
  static Step step(Row row) {
    if (!row.name().equals("no finish reason")) {
      return Objects.requireNonNull(FAULTS.get(row.name()), row.name());
    }
    return row.told() == Told.PLAIN
        ? TEXT.with(Fault.Instead.error(200, ANSWER + "null}]}"))
        : TEXT.with(new Fault.NoFinishReason());
  }

  enum Told {
    PLAIN,
    EARLY,
    LATE
  }

  /**
   * One fault in one kind of answer.
   *
   * @param record engine's status, verdict, retries
   */
  record Row(String name, Told told, String chat, List<String> record, String turn) {

    boolean stream() {
      return told != Told.PLAIN;
    }

    /** The proxy's patience is what ends these. */
    boolean isSlow() {
      return name.startsWith("silence") || name.startsWith("stall");
    }

    int retries() {
      return Integer.parseInt(record.get(2));
    }
  }

  static Stream<Row> rows() {
    return TABLE
        .lines()
        .skip(1)
        .map(line -> Arrays.stream(line.split("\\|")).map(String::strip).toList())
        .flatMap(
            cells ->
                Arrays.stream(cells.get(1).split(", "))
                    .map(told -> Told.valueOf(told.toUpperCase(Locale.ROOT)))
                    .map(
                        told ->
                            new Row(
                                cells.get(0),
                                told,
                                cells.get(2),
                                List.of(cells.get(3).split(" +")),
                                cells.get(4))));
  }

  private FaultTable() {}

  /** What the agent has to see. */
  static void checkAnswer(Row row, Tongue tongue, TestAgent.Answer answer) {
    if (row.told() == Told.LATE) {
      checkBrokenOff(answer, tongue);
    } else {
      checkRefused(answer, tongue, row.chat());
    }
  }

  static void checkRefused(TestAgent.Answer answer, Tongue tongue, String chatStatus) {
    assertThat(answer.status())
        .as(answer.body())
        .isEqualTo(tongue == Tongue.CHAT ? Integer.parseInt(chatStatus) : 400);
    assertThat(answer.ended()).isTrue();
    assertThat(answer.body()).doesNotContain("a longer", "\"par\"");
    if (tongue != Tongue.CHAT) {
      assertThat(answer.headers()).containsEntry("x-should-retry", "false");
      Map<String, Object> tree = Json.object(answer.body());
      assertThat(tree.get("error"))
          .isInstanceOfSatisfying(
              Map.class, error -> assertThat(error.get("type")).isEqualTo("upstream_error"));
    }
  }

  static void checkBrokenOff(TestAgent.Answer answer, Tongue tongue) {
    assertThat(answer.status()).as(answer.body()).isEqualTo(200);
    assertThat(answer.body()).contains("a longer");
    assertThat(tongue.isGoodEnd(answer)).isFalse();
    if (tongue == Tongue.CHAT) {
      String last = answer.body().substring(answer.body().lastIndexOf("data: "));
      assertThat(last).startsWith("data: {\"error\":").endsWith("}\n\n");
      assertThat(answer.ended()).as("the end must not look good").isFalse();
      assertThat(answer.body()).doesNotContain("[DONE]");
    } else {
      assertThat(Tongue.events(answer).getLast()).containsEntry("type", tongue.errorEvent());
    }
  }

  static void checkNumber(int number, String expected) {
    if (!expected.equals("*")) {
      assertThat(number).isEqualTo(Integer.parseInt(expected));
    }
  }
}
