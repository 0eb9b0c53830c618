package dev.blackbox.app;

/** Where {@link Engine} meets the scripted engine. */
final class Engines {

  private Engines() {}

  @SuppressWarnings("DoNotCallSuggester")
  static Engine scripted(int port, String script) {
    throw new ExitException(
        ExitCode.INTERNAL,
        "this build has no scripted engine (port " + port + ", script of " + script.length() + ")");
  }
}
