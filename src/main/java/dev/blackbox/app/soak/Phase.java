package dev.blackbox.app.soak;

/** When a kill came. */
enum Phase {
  FIRST_START("first start"),
  START("start"),
  RECOVERY("recovery"),
  SERVING("serving"),
  SHUTDOWN("shutdown"),
  AGENT("agent only");

  private final String words;

  Phase(String words) {
    this.words = words;
  }

  String words() {
    return words;
  }
}
