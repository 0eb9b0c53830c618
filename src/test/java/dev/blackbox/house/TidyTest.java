package dev.blackbox.house;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.googlejavaformat.java.Formatter;
import com.google.googlejavaformat.java.FormatterException;
import com.google.googlejavaformat.java.ImportOrderer;
import com.google.googlejavaformat.java.JavaFormatterOptions;
import com.google.googlejavaformat.java.RemoveUnusedImports;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.LineMap;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/**
 * What no compiler says about the sources: their format, the length of files and methods, and calls
 * that have a better replacement here. {@code mvn test -Dtest=TidyTest -Dtidy.fix=true} rewrites
 * badly formatted files.
 */
class TidyTest {

  private static final List<Path> ROOTS =
      List.of(Path.of("src/main/java"), Path.of("src/test/java"));
  private static final int FILE_LINES_MAX = 450;
  private static final int METHOD_LINES_MAX = 60;

  /** A call that is not wanted, and what to use in its place. */
  private static final Map<String, String> BANNED =
      Map.of(
          "printStackTrace(", "a logger, or rethrow with context",
          "Thread.sleep(0", "nothing, or a condition",
          "new Random()", "a Random with a printed seed",
          "@Disabled", "an assumption that prints its reason",
          "System.exit(", "a return from Main, whose exit codes are documented");

  @Test
  void sourcesAreFormatted() throws IOException, FormatterException {
    boolean fix = Boolean.getBoolean("tidy.fix");
    Formatter formatter = new Formatter(JavaFormatterOptions.defaultOptions());
    List<String> unformatted = new ArrayList<>();
    for (Path file : sources()) {
      String source = Files.readString(file);
      String formatted =
          formatter.formatSource(RemoveUnusedImports.removeUnusedImports(reordered(source)));
      if (!formatted.equals(source)) {
        if (fix) {
          Files.writeString(file, formatted);
        } else {
          unformatted.add(file.toString());
        }
      }
    }
    assertThat(unformatted)
        .as("not formatted; fix with: mvn test -Dtest=TidyTest -Dtidy.fix=true")
        .isEmpty();
  }

  @Test
  void filesAndMethodsFitAHead() throws IOException {
    List<String> tooLong = new ArrayList<>();
    for (Path file : sources()) {
      String source = Files.readString(file);
      long lines = source.lines().count();
      if (lines > FILE_LINES_MAX) {
        tooLong.add(file + " has " + lines + " lines, at most " + FILE_LINES_MAX);
      }
      longMethods(file, source, tooLong);
    }
    assertThat(tooLong).isEmpty();
  }

  @Test
  void bannedCallsAreNotMade() throws IOException {
    List<String> found = new ArrayList<>();
    for (Path file : sources()) {
      if (file.endsWith("TidyTest.java")) {
        continue;
      }
      String source = Files.readString(file);
      BANNED.forEach(
          (call, instead) -> {
            if (source.contains(call)
                && !(call.startsWith("System.exit") && file.endsWith("Main.java"))) {
              found.add(file + ": " + call + " … use " + instead);
            }
          });
    }
    assertThat(found).isEmpty();
  }

  private static String reordered(String source) throws FormatterException {
    return ImportOrderer.reorderImports(source, JavaFormatterOptions.Style.GOOGLE);
  }

  private static void longMethods(Path file, String source, List<String> tooLong)
      throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    JavacTask task =
        (JavacTask)
            compiler.getTask(null, null, _ -> {}, List.of(), null, List.of(new Source(source)));
    SourcePositions positions = Trees.instance(task).getSourcePositions();
    for (CompilationUnitTree unit : task.parse()) {
      LineMap lines = unit.getLineMap();
      new TreeScanner<Void, String>() {
        @Override
        public Void visitClass(ClassTree type, String outer) {
          return super.visitClass(type, outer + "." + type.getSimpleName());
        }

        @Override
        public Void visitMethod(MethodTree method, String outer) {
          long first = lines.getLineNumber(positions.getStartPosition(unit, method));
          long last = lines.getLineNumber(positions.getEndPosition(unit, method));
          if (last - first + 1 > METHOD_LINES_MAX) {
            tooLong.add(
                file + outer + "." + method.getName() + " has " + (last - first + 1) + " lines");
          }
          return super.visitMethod(method, outer);
        }
      }.scan(unit, "");
    }
  }

  private static List<Path> sources() throws IOException {
    List<Path> sources = new ArrayList<>();
    for (Path root : ROOTS) {
      try (Stream<Path> files = Files.walk(root)) {
        files.filter(file -> file.toString().endsWith(".java")).sorted().forEach(sources::add);
      }
    }
    return sources;
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String text) {
      super(URI.create("string:///Source.java"), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }
}
