package dev.blackbox.app;

import dev.blackbox.kernel.Resource;

/** An OpenAI-compatible engine that says what a script tells it to, as the commands use it. */
interface Engine extends Resource {

  int port();

  /** Chat completions that were asked for so far. */
  int calls();

  /** Starts engines; the demo's seam. */
  @FunctionalInterface
  interface Starter {

    /**
     * @param port to listen on at 127.0.0.1; 0: any free one
     * @param script in the JSON format of docs/engine.md
     */
    Engine start(int port, String script);
  }
}
