package dev.blackbox.app;

import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.ScriptedEngine;

/** Where {@link Engine} meets the scripted engine. */
final class Engines {

  private Engines() {}

  /**
   * @throws IllegalArgumentException that says what is wrong with the script, and where
   */
  static Engine scripted(int port, String script) {
    ScriptedEngine engine = ScriptedEngine.start(port, EngineScript.parse(script));
    return new Engine() {
      @Override
      public int port() {
        return engine.port();
      }

      @Override
      public int calls() {
        return engine.chatRequests().size();
      }

      @Override
      public void close() {
        engine.close();
      }
    };
  }
}
