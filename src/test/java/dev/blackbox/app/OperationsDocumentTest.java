package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.config.Defaults;
import dev.blackbox.config.Setting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The tables of docs/operations.md come from the code. {@code mvn test
 * -Dtest=OperationsDocumentTest -Dtidy.fix=true} writes them.
 */
class OperationsDocumentTest {

  private static final Path DOCUMENT = Path.of("docs/operations.md");

  @Test
  void theDocumentHasTheSettingsOfTheCode() throws IOException {
    Map<Setting, String> defaults = Defaults.shipped();
    assertTable(
        "settings",
        "| Variable | Option | Default | Allowed | Meaning |\n|---|---|---|---|---|\n"
            + Arrays.stream(Setting.values())
                .map(
                    setting ->
                        "| `%s` | %s | %s | %s | %s |"
                            .formatted(
                                setting.variable(),
                                setting.isOption() ? "`" + setting.option() + "`" : "none",
                                shown(defaults.getOrDefault(setting, "")),
                                setting.kind().allowed(),
                                setting.meaning()))
                .collect(Collectors.joining("\n")));
  }

  @Test
  void theDocumentHasTheExitCodesOfTheCode() throws IOException {
    assertTable(
        "exit codes",
        "| Code | Name | Meaning |\n|---|---|---|\n"
            + Arrays.stream(ExitCode.values())
                .map(code -> "| %d | %s | %s |".formatted(code.number(), code, code.meaning()))
                .collect(Collectors.joining("\n")));
  }

  private static String shown(String value) {
    return value.isEmpty() ? "empty" : "`" + value + "`";
  }

  private static void assertTable(String name, String table) throws IOException {
    String begin = "<!-- " + name + ": written by OperationsDocumentTest -->\n";
    String end = "\n<!-- end of " + name + " -->";
    String document = Files.readString(DOCUMENT);
    assertThat(document).contains(begin, end);
    int from = document.indexOf(begin) + begin.length();
    int to = document.indexOf(end);
    if (Boolean.getBoolean("tidy.fix")) {
      Files.writeString(DOCUMENT, document.substring(0, from) + table + document.substring(to));
    } else {
      assertThat(document.substring(from, to))
          .as("write it: mvn test -Dtest=OperationsDocumentTest -Dtidy.fix=true")
          .isEqualTo(table);
    }
  }
}
