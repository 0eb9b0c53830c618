package dev.blackbox.proxy;

import dev.blackbox.kernel.InstanceId;
import dev.blackbox.kernel.Secret;
import dev.blackbox.kernel.SessionId;
import java.net.URI;
import java.util.List;
import java.util.Optional;

/**
 * Whom the proxy serves at the moment.
 *
 * @param upstreamOrigin scheme and authority of the engine, no path
 * @param apiPath path prefix of the engine's API, such as {@code /v1}
 * @param agentKey what the agent must present as {@code Authorization: Bearer} or {@code x-api-key}
 * @param secrets what else of its registration must not be in kept bodies
 */
public record ProxyBinding(
    SessionId sessionId,
    InstanceId instanceId,
    Optional<String> sandboxId,
    URI upstreamOrigin,
    String apiPath,
    Secret agentKey,
    ProxyOptions options,
    List<Secret> secrets) {

  public ProxyBinding {
    secrets = List.copyOf(secrets);
  }

  /** A binding whose only secret is its key. */
  public ProxyBinding(
      SessionId sessionId,
      InstanceId instanceId,
      Optional<String> sandboxId,
      URI upstreamOrigin,
      String apiPath,
      Secret agentKey,
      ProxyOptions options) {
    this(sessionId, instanceId, sandboxId, upstreamOrigin, apiPath, agentKey, options, List.of());
  }
}
