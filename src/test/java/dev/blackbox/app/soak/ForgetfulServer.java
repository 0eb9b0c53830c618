package dev.blackbox.app.soak;

import dev.blackbox.app.Main;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The real server, but it starts with the state directory of the boot before the last, as if
 * somebody put back an older copy: what the last boot acknowledged is forgotten.
 */
final class ForgetfulServer {

  private static final String OPTION = "--state-dir=";

  private ForgetfulServer() {}

  public static void main(String[] arguments) throws IOException {
    for (String argument : arguments) {
      if (argument.startsWith(OPTION)) {
        swap(Path.of(argument.substring(OPTION.length())));
      }
    }
    Main.main(arguments);
  }

  private static void swap(Path state) throws IOException {
    Path other = state.resolveSibling("other-state");
    Path between = state.resolveSibling("between");
    if (Files.exists(state)) {
      Files.move(state, between);
    }
    if (Files.exists(other)) {
      Files.move(other, state);
    }
    if (Files.exists(between)) {
      Files.move(between, other);
    }
  }
}
