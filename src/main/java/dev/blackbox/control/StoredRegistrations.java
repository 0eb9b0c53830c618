package dev.blackbox.control;

import dev.blackbox.agent.Backend;
import dev.blackbox.control.Rollout.RegisterRequest;
import dev.blackbox.kernel.Problem;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.turn.SessionSnapshot.SystemPrompt;
import dev.blackbox.wire.Fingerprints;
import dev.blackbox.wire.Json;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A registration as the ledger keeps it, so that the next boot can bind again. Secrets are left
 * out.
 */
final class StoredRegistrations {

  private StoredRegistrations() {}

  static String write(Registration registration) {
    RegisterRequest request = registration.request();
    Map<String, @Nullable Object> stored = new LinkedHashMap<>();
    stored.put("blackbox_type", request.blackboxType());
    stored.put("router", request.router());
    stored.put("router_api_path", request.routerApiPath());
    stored.put("sandbox_id", request.sandboxId().orElse(null));
    stored.put("system_prompt_file", request.systemPromptFile().orElse(null));
    stored.put("system_prompt", registration.systemPrompt().map(SystemPrompt::text).orElse(null));
    stored.put("backend_options", SecretOptions.hide(request.backendOptions()));
    stored.put("server_config", request.serverConfig());
    return Json.write(stored);
  }

  /** A new binding as the ledger keeps it. */
  static LedgerFacts.Binding binding(
      Registration registration, Path directory, String configJson, int proxyPort, Instant now) {
    return new LedgerFacts.Binding(
        directory.getFileName().toString(),
        registration.backend().type(),
        registration.fingerprint(),
        write(registration),
        hash(configJson),
        configJson,
        BindingViews.binding(registration, directory, now),
        registration.sessionId(),
        registration.instanceId(),
        proxyPort,
        registration.systemPrompt().filter(prompt -> !prompt.text().isBlank()),
        OptionalLong.empty());
  }

  static String hash(String configJson) {
    return Fingerprints.sha256Hex(configJson.getBytes(StandardCharsets.UTF_8));
  }

  /** True if what is stored cannot be used, because secrets were left out of it. */
  static boolean hasHiddenSecrets(LedgerFacts.Binding binding) {
    return SecretOptions.hasHidden(tree(Json.object(binding.parametersJson()), "backend_options"));
  }

  /**
   * Reads it back. The prompt is the one that was registered, whatever has become of its file
   * since.
   */
  static Registration read(
      LedgerFacts.Binding binding,
      Function<String, Optional<Backend>> backends,
      ServerSettings base,
      int systemPromptBytesMax) {
    Map<String, @Nullable Object> stored = Json.object(binding.parametersJson());
    RegisterRequest withoutPrompt =
        new RegisterRequest(
            String.valueOf(stored.get("blackbox_type")),
            String.valueOf(stored.get("router")),
            String.valueOf(stored.get("router_api_path")),
            Optional.of(binding.sessionId().value()),
            Optional.of(binding.instanceId().value()),
            text(stored, "sandbox_id"),
            Optional.empty(),
            tree(stored, "backend_options"),
            withoutNulls(tree(stored, "server_config")));
    Registration checked = Registration.check(withoutPrompt, backends, base, systemPromptBytesMax);
    Optional<String> file = text(stored, "system_prompt_file");
    RegisterRequest request =
        new RegisterRequest(
            withoutPrompt.blackboxType(),
            withoutPrompt.router(),
            withoutPrompt.routerApiPath(),
            withoutPrompt.sessionId(),
            withoutPrompt.instanceId(),
            withoutPrompt.sandboxId(),
            file,
            withoutPrompt.backendOptions(),
            withoutPrompt.serverConfig());
    Optional<SystemPrompt> prompt =
        text(stored, "system_prompt").map(content -> new SystemPrompt(file.orElse(""), content));
    return new Registration(
        request,
        checked.router(),
        checked.backend(),
        checked.proxyOptions(),
        checked.agentOptions(),
        checked.sessionId(),
        checked.instanceId(),
        prompt,
        Optional.<Problem>empty(),
        checked.effective());
  }

  private static Optional<String> text(Map<String, @Nullable Object> stored, String name) {
    return stored.get(name) instanceof String text ? Optional.of(text) : Optional.empty();
  }

  private static Map<String, @Nullable Object> tree(
      Map<String, @Nullable Object> stored, String name) {
    Map<String, @Nullable Object> tree = new LinkedHashMap<>();
    if (stored.get(name) instanceof Map<?, ?> object) {
      object.forEach((key, value) -> tree.put(String.valueOf(key), value));
    }
    return tree;
  }

  private static Map<String, Object> withoutNulls(Map<String, @Nullable Object> tree) {
    Map<String, Object> kept = new LinkedHashMap<>();
    tree.forEach(
        (name, value) -> {
          if (value != null) {
            kept.put(name, value);
          }
        });
    return kept;
  }
}
