package dev.blackbox.proxy;

import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.ScriptedEngine;
import dev.blackbox.kernel.InstanceId;
import dev.blackbox.kernel.Secret;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.turn.TurnKey;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;

/** A proxy between a test agent and a scripted engine, all with real sockets. */
final class ProxyRig implements AutoCloseable {

  static final String KEY = "bbs-secret-of-the-binding";

  /** Deadlines short enough for tests. */
  static final ProxyConfig CONFIG =
      new ProxyConfig(
          0,
          1 << 20,
          1 << 20,
          512,
          Duration.ofSeconds(2),
          Duration.ofSeconds(2),
          Duration.ofSeconds(1));

  final ScriptedEngine engine;
  final RecordingSink sink = new RecordingSink();
  final ModelProxy proxy;

  ProxyRig(EngineScript script) {
    this(CONFIG, script);
  }

  ProxyRig(ProxyConfig config, EngineScript script) {
    engine = ScriptedEngine.start(0, script);
    proxy = ModelProxy.start(config, sink, InstantSource.system());
    proxy.bind(binding(ProxyOptions.DEFAULTS));
  }

  ProxyBinding binding(ProxyOptions options) {
    return binding(engine.origin(), options);
  }

  static ProxyBinding binding(URI origin, ProxyOptions options) {
    return new ProxyBinding(
        SessionId.parse("sess-1"),
        InstanceId.parse("inst-1"),
        Optional.of("sandbox-1"),
        origin,
        "/v1",
        Secret.of(KEY),
        options);
  }

  TurnScope openTurn(String id) {
    return openTurn(id, Map.of());
  }

  TurnScope openTurn(String id, Map<String, String> trace) {
    return proxy.openTurn(new TurnKey(7, TurnId.parse(id)), trace);
  }

  TestAgent agent() throws IOException {
    return new TestAgent(proxy.port());
  }

  /** Sends a model call and does not wait for its answer. */
  static void sendChat(TestAgent agent, String body) throws IOException {
    agent.send(
        "POST",
        "/v1/chat/completions",
        body.getBytes(StandardCharsets.UTF_8),
        "Authorization: Bearer " + KEY,
        "Content-Type: application/json");
  }

  /** One model call on a connection of its own. */
  TestAgent.Answer chat(String body) throws IOException {
    try (TestAgent agent = agent()) {
      sendChat(agent, body);
      return agent.answer();
    }
  }

  static String plainBody(String text) {
    return "{\"model\": \"m-1\", \"messages\": [{\"role\": \"user\", \"content\": \""
        + text
        + "\"}]}";
  }

  static String streamBody(String text) {
    return "{\"model\": \"m-1\", \"stream\": true, \"messages\": [{\"role\": \"user\","
        + " \"content\": \""
        + text
        + "\"}]}";
  }

  @Override
  public void close() {
    proxy.close();
    engine.close();
  }
}
