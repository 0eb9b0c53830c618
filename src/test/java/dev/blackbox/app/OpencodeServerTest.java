package dev.blackbox.app;

import dev.blackbox.app.engine.Step;
import dev.blackbox.wire.Json;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;

/** The real opencode. */
@Tag("agents")
@Timeout(300)
class OpencodeServerTest extends RealAgentServerTest {

  @Override
  String type() {
    return "opencode";
  }

  @Override
  Map<String, Object> options() {
    return Map.of(
        "provider_id", "proxy",
        "provider_name", "Proxy",
        "provider_package", "@ai-sdk/openai-compatible",
        "model_id", "m",
        "model_name", "M");
  }

  @Override
  Map<String, String> environment() {
    return installed("OPENCODE_BIN", "opencode");
  }

  @Override
  Step shell(String command) {
    return Step.toolCall(
        "bash", Json.write(Map.of("command", command, "description", "do it", "timeout", 400_000)));
  }
}
