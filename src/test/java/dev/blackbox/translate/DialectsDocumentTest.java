package dev.blackbox.translate;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Reads {@code docs/dialects.md}: each row names a case that exists, each case has a row. */
class DialectsDocumentTest {

  private static final Path DOCUMENT = Path.of("docs/dialects.md");
  private static final List<String> FILES =
      List.of("requests-anthropic", "requests-responses", "answers", "streams", "engine-errors");
  private static final List<Class<?>> TESTS =
      List.of(
          RequestsTest.class,
          AnswersCorpusTest.class,
          NumbersTest.class,
          StreamsTest.class,
          StreamsCorpusTest.class,
          EngineErrorsTest.class,
          RoundTripTest.class,
          BothWaysTest.class,
          GoldensTest.class);

  /** Classes of another room, whose tests need a whole proxy. */
  private static final List<String> TESTS_OF_THE_PROXY =
      List.of("ChatToolCallsTest", "FaultTableTest");

  private static final Pattern CASE = Pattern.compile("`([A-Za-z-]+/[A-Za-z0-9-]+)`");

  private static final Pattern METHOD = Pattern.compile("(?m)^  void (\\w+)\\(");

  @Test
  void everyRowNamesACaseThatExists() throws IOException {
    Set<String> existing = new TreeSet<>(corpus());
    for (Class<?> test : TESTS) {
      for (Method method : test.getDeclaredMethods()) {
        existing.add(test.getSimpleName() + "/" + method.getName());
      }
    }
    for (String test : TESTS_OF_THE_PROXY) {
      Path source = Path.of("src/test/java/dev/blackbox/proxy", test + ".java");
      Matcher method = METHOD.matcher(Files.readString(source));
      while (method.find()) {
        existing.add(test + "/" + method.group(1));
      }
    }
    List<String> rows = rows();
    assertThat(rows).hasSizeGreaterThan(150);
    for (String row : rows) {
      List<String> named = cases(lastCell(row).startsWith("| –") ? row : lastCell(row));
      assertThat(named).as(row).isNotEmpty();
      assertThat(existing).as(row).containsAll(named);
    }
  }

  @Test
  void everyCaseHasARow() throws IOException {
    Set<String> named = new TreeSet<>();
    rows().forEach(row -> named.addAll(cases(row)));
    assertThat(named).containsAll(corpus());
  }

  /** A method of a test may show more of a row; the corpus shows each. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Requests: Anthropic Messages to chat completions | requests-anthropic/",
        "Requests: OpenAI Responses to chat completions | requests-responses/",
        "Answers | answers/",
        "Streams | streams/"
      })
  void everyRowOfATranslationNamesACaseOfItsCorpus(String heading, String corpus)
      throws IOException {
    List<String> rows = rows(heading);
    assertThat(rows).hasSizeGreaterThan(10);
    for (String row : rows) {
      assertThat(cases(lastCell(row))).as(row).anyMatch(named -> named.startsWith(corpus));
    }
  }

  /** What the table says of a dialect is shown in that dialect: whole, and as a stream. */
  @Test
  void everyRowOfAnAnswerIsShownInTheDialectsThatItSpeaksOf() throws IOException {
    for (String row : rows("Answers")) {
      List<String> cells = List.of(row.split("(?<!\\\\)\\|"));
      List<Map<String, @Nullable Object>> shown =
          cases(lastCell(row)).stream()
              .filter(named -> named.startsWith("answers/"))
              .map(DialectsDocumentTest::answer)
              .toList();
      for (int dialect = 0; dialect < 2; dialect++) {
        String key = dialect == 0 ? "anthropic" : "responses";
        String rule = cells.get(2 + dialect).strip();
        if (!rule.equals("–")) {
          assertThat(shown).as("%s: %s", key, row).anyMatch(one -> speaksOf(one, key));
        }
        boolean broken = rule.startsWith("broken");
        assertThat(shown.stream().anyMatch(one -> Corpus.list(one.get("broken")).contains(key)))
            .as("broken, %s: %s", key, row)
            .isEqualTo(broken);
      }
    }
  }

  /** What a conversation is made of goes in and comes back, in each dialect that has it. */
  @Test
  void whatGoesInAndComesBackHasACaseForEachWay() throws IOException {
    List<String> rows = rows("Both ways");
    assertThat(rows).hasSizeGreaterThan(5);
    List<String> columns =
        List.of("requests-anthropic/", "requests-responses/", "answers/", "streams/");
    List<String> existing = corpus();
    for (String row : rows) {
      String[] cells = row.split("\\|");
      for (int column = 0; column < columns.size(); column++) {
        String cell = cells[2 + column].strip();
        if (cell.startsWith("–")) {
          assertThat(cell).as("a reason: %s", row).hasSizeGreaterThan(5);
          continue;
        }
        String corpus = columns.get(column);
        assertThat(cases(cell))
            .as(row)
            .isNotEmpty()
            .allMatch(named -> named.startsWith(corpus))
            .allMatch(existing::contains);
      }
    }
  }

  private static boolean speaksOf(Map<String, @Nullable Object> answer, String key) {
    return answer.get(key) != null || Corpus.list(answer.get("broken")).contains(key);
  }

  private static Map<String, @Nullable Object> answer(String named) {
    return Corpus.cases("answers.json").stream()
        .filter(one -> named.equals("answers/" + Corpus.name(one)))
        .findFirst()
        .orElseThrow();
  }

  private static String lastCell(String row) {
    return row.substring(row.lastIndexOf('|', row.length() - 2));
  }

  @Test
  void noTwoCasesHaveOneName() {
    assertThat(corpus()).doesNotHaveDuplicates();
  }

  private static List<String> corpus() {
    List<String> names = new ArrayList<>();
    for (String file : FILES) {
      Corpus.cases(file + ".json").forEach(one -> names.add(file + "/" + Corpus.name(one)));
    }
    return names;
  }

  /** The rows of all tables, without their heads. */
  private static List<String> rows() throws IOException {
    return rowsOf(Files.readAllLines(DOCUMENT));
  }

  /** The rows under one heading. */
  private static List<String> rows(String heading) throws IOException {
    List<String> lines = Files.readAllLines(DOCUMENT);
    int start = lines.indexOf("## " + heading);
    assertThat(start).as(heading).isNotNegative();
    int end = start + 1;
    while (end < lines.size() && !lines.get(end).startsWith("## ")) {
      end++;
    }
    return rowsOf(lines.subList(start, end));
  }

  private static List<String> rowsOf(List<String> lines) {
    List<String> rows = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i);
      boolean head = i + 1 < lines.size() && lines.get(i + 1).startsWith("|---");
      if (line.startsWith("|") && !line.startsWith("|---") && !head) {
        rows.add(line.strip());
      }
    }
    return rows;
  }

  private static List<String> cases(String text) {
    List<String> cases = new ArrayList<>();
    Matcher matcher = CASE.matcher(text);
    while (matcher.find()) {
      cases.add(matcher.group(1));
    }
    return cases;
  }
}
