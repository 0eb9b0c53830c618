package dev.blackbox.agent.example;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The code in docs/adding-a-backend.md is the code of the example. */
class AddingABackendDocumentTest {

  private static final Path SOURCES = Path.of("src/test/java/dev/blackbox/agent/example");

  private static final Pattern SNIPPET =
      Pattern.compile("<!-- (\\w+\\.java) \\[(\\w+)] -->\\n```java\\n(.*?)```\\n", Pattern.DOTALL);

  @Test
  void everySnippetIsWhatTheSourceSays() throws Exception {
    String page = Files.readString(Path.of("docs/adding-a-backend.md"));
    Matcher snippets = SNIPPET.matcher(page);
    List<String> seen = new ArrayList<>();
    while (snippets.find()) {
      seen.add(snippets.group(2));
      assertThat(snippets.group(3))
          .as(snippets.group(2))
          .isEqualTo(section(snippets.group(1), snippets.group(2)));
    }
    assertThat(seen).containsExactly("backend", "dialect", "turn");
    assertThat(page.split("```java", -1)).as("no code without a source").hasSize(seen.size() + 1);
  }

  private static String section(String file, String name) throws Exception {
    String source = Files.readString(SOURCES.resolve(file));
    String begin = "  // [" + name + "]\n";
    int start = source.indexOf(begin) + begin.length();
    int end = source.indexOf("  // [/" + name + "]\n");
    assertThat(end).as("the marks of " + name + " in " + file).isGreaterThan(start);
    return source.substring(start, end).stripTrailing().stripIndent().strip() + "\n";
  }
}
