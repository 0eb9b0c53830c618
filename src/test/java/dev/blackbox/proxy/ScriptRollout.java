package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.app.ServerClient;
import dev.blackbox.app.engine.ScriptedEngine;
import java.util.Map;

/** A session of a whole server whose agent is a script and whose model is a scripted engine. */
final class ScriptRollout {

  private ScriptRollout() {}

  static void register(ServerClient client, ScriptedEngine engine, String session)
      throws Exception {
    ServerClient.Answer registered =
        client.post(
            "/v1/rollout/register",
            Map.of(
                "blackbox_type",
                "script",
                "router",
                engine.origin() + "/v1",
                "bound_session_id",
                session,
                "bound_instance_id",
                "i1"));
    assertThat(registered.status()).as(registered.text()).isEqualTo(200);
  }

  static void abort(ServerClient client, String session) throws Exception {
    ServerClient.Answer aborted = client.post("/v1/sessions/" + session + "/abort", Map.of());
    assertThat(aborted.status()).as(aborted.text()).isEqualTo(200);
  }
}
