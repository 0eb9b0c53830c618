package dev.blackbox.control;

import dev.blackbox.agent.Backend;
import dev.blackbox.turn.SessionSnapshot.SystemPrompt;
import dev.blackbox.wire.Fingerprints;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.Timestamps;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What is shown and stored of a registration: never a secret. Names and order as in the reference
 * server, section 1.2.
 */
final class BindingViews {

  private BindingViews() {}

  /** The {@code binding} object of the HTTP API. */
  static String binding(Registration registration, Path runtimeDirectory, Instant at) {
    Rollout.RegisterRequest request = registration.request();
    Map<String, @Nullable Object> view = new LinkedHashMap<>();
    view.put("runtime_id", runtimeDirectory.getFileName().toString());
    view.put("blackbox_type", request.blackboxType());
    view.put("router_raw", request.router());
    view.put("router_base_url", registration.router().baseUrl());
    view.put("router_api_path", registration.router().apiPath());
    view.put("bound_session_id", registration.sessionId().value());
    view.put("bound_instance_id", registration.instanceId().value());
    view.put("bound_sandbox_id", request.sandboxId().orElse(null));
    view.put("system_prompt", systemPrompt(registration, runtimeDirectory));
    view.put("runtime_dir", runtimeDirectory.toString());
    view.put("registered_at", Timestamps.iso(at));
    view.put("backend_options", SecretOptions.hide(request.backendOptions()));
    return Json.write(view);
  }

  static Rollout.BindingView view(Registration registration, String bindingJson) {
    return new Rollout.BindingView(
        bindingJson, Json.write(registration.backend().capabilities()), registration.effective());
  }

  /**
   * Everything that decides how the agent behaves: the same hash means the same behaviour. Names of
   * sessions are not in it.
   *
   * @param identity program, version and what else the backend found on this machine
   */
  static String config(
      Registration registration, Map<String, String> identity, String serverVersion) {
    Rollout.RegisterRequest request = registration.request();
    Map<String, @Nullable Object> config = new LinkedHashMap<>();
    config.put("blackbox_type", request.blackboxType());
    config.put("router_base_url", registration.router().baseUrl());
    config.put("backend_options", SecretOptions.hide(request.backendOptions()));
    config.put("server_config", request.serverConfig());
    config.put(
        "system_prompt", registration.systemPrompt().map(BindingViews::promptContent).orElse(null));
    config.put("agent", identity);
    config.put("server_version", serverVersion);
    return Fingerprints.canonical(config);
  }

  private static @Nullable Object systemPrompt(Registration registration, Path runtimeDirectory) {
    Backend backend = registration.backend();
    return registration
        .systemPrompt()
        .map(
            prompt -> {
              Map<String, Object> view = new LinkedHashMap<>();
              view.put("source_file", prompt.sourceFile());
              view.put(
                  "runtime_file", runtimeDirectory.resolve(backend.systemPromptFile()).toString());
              view.put("applies_to", backend.systemPromptTarget());
              return view;
            })
        .orElse(null);
  }

  private static Map<String, Object> promptContent(SystemPrompt prompt) {
    return Map.of(
        "sha256", Fingerprints.sha256Hex(prompt.text().getBytes(StandardCharsets.UTF_8)),
        "text", prompt.text());
  }
}
