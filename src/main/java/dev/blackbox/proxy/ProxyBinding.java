package dev.blackbox.proxy;

import dev.blackbox.kernel.InstanceId;
import dev.blackbox.kernel.Secret;
import dev.blackbox.kernel.SessionId;
import java.net.URI;
import java.util.Optional;

/**
 * Whom the proxy serves at the moment.
 *
 * @param upstreamOrigin scheme and authority of the engine, no path
 * @param apiPath path prefix of the engine's API, such as {@code /v1}
 * @param agentKey what the agent must present as {@code Authorization: Bearer} or {@code x-api-key}
 */
public record ProxyBinding(
    SessionId sessionId,
    InstanceId instanceId,
    Optional<String> sandboxId,
    URI upstreamOrigin,
    String apiPath,
    Secret agentKey,
    ProxyOptions options) {}
