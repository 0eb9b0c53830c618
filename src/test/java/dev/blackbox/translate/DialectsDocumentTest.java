package dev.blackbox.translate;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Reads {@code docs/dialects.md}: each row names a case that exists, each case has a row. */
class DialectsDocumentTest {

  private static final Path DOCUMENT = Path.of("docs/dialects.md");
  private static final List<String> FILES =
      List.of("requests-anthropic", "requests-responses", "answers", "engine-errors");
  private static final List<Class<?>> TESTS =
      List.of(
          RequestsTest.class,
          AnswersCorpusTest.class,
          StreamsTest.class,
          EngineErrorsTest.class,
          RoundTripTest.class,
          ConversationTest.class,
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
      List<String> named = cases(row.substring(row.lastIndexOf('|', row.length() - 2)));
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
    List<String> lines = Files.readAllLines(DOCUMENT);
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
