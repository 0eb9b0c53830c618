package dev.blackbox.app;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The command line that starts this program again as a process of its own: the launcher if this one
 * came from it, which becomes the Java process and so keeps its pid; else the same Java with the
 * same class path.
 */
record JavaCommand(List<String> words) {

  JavaCommand {
    words = List.copyOf(words);
  }

  static JavaCommand of(Class<?> main, List<String> arguments) {
    List<String> words = new ArrayList<>();
    @Nullable String launcher = System.getProperty("bbs.launcher");
    if (launcher != null && main == Main.class && Files.isExecutable(Path.of(launcher))) {
      words.add(launcher);
    } else {
      words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
      words.addAll(List.of("-XX:+UseSerialGC", "-Xmx256m", "--enable-native-access=ALL-UNNAMED"));
      // It lives for seconds: to compile more than this takes a third of its processor time.
      words.add("-XX:TieredStopAtLevel=1");
      words.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    }
    words.addAll(arguments);
    return new JavaCommand(words);
  }
}
