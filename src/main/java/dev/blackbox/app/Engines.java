package dev.blackbox.app;

import java.util.List;

/** Where {@link Engine} meets the scripted engine. */
final class Engines {

  private Engines() {}

  @SuppressWarnings("DoNotCallSuggester")
  static Engine scripted(int port, List<Engine.Reply> script) {
    throw new ExitException(
        ExitCode.INTERNAL,
        "this build has no scripted engine (port " + port + ", " + script.size() + " replies)");
  }
}
