package dev.blackbox.app;

import dev.blackbox.kernel.Resource;
import java.util.List;
import java.util.Map;

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
     * @param script what it answers, call by call; the last reply is given again and again
     */
    Engine start(int port, List<Reply> script);
  }

  /** One answer. */
  sealed interface Reply {

    /** A message. */
    record Text(String text) implements Reply {}

    /** A call of one of the agent's tools. */
    record ToolCall(String tool, Map<String, Object> arguments) implements Reply {}
  }
}
