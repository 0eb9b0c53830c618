package dev.blackbox.app;

import dev.blackbox.app.engine.Step;
import dev.blackbox.wire.Json;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/** The real OpenClaw, with the Node that was installed beside it. */
@Tag("agents")
@Timeout(900)
class OpenclawServerTest extends RealAgentServerTest {

  @Override
  String type() {
    return "openclaw";
  }

  @Override
  Map<String, Object> options() {
    return Map.of("model_id", "m");
  }

  @Override
  Map<String, String> environment() {
    return installed("OPENCLAW_BIN", "openclaw");
  }

  @Override
  Step shell(String command) {
    return Step.toolCall("exec", Json.write(Map.of("command", command)));
  }
}
