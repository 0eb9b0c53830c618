package dev.blackbox.control;

import dev.blackbox.agent.Agent;
import dev.blackbox.agent.AgentSlot;
import dev.blackbox.agent.AgentStartException;
import dev.blackbox.agent.Backend;
import dev.blackbox.kernel.Secret;
import dev.blackbox.process.Processes;
import dev.blackbox.proxy.ModelProxy;
import dev.blackbox.proxy.ProxyBinding;
import dev.blackbox.turn.SessionSnapshot;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;

/** Starts agents, with the proxy in front of their models. */
record AgentStarts(ModelProxy proxy, Processes processes, InstantSource clock) {

  /** The proxy serves the agent before it starts, since some agents look for their models first. */
  Agent start(
      Registration registration,
      Backend.Plan plan,
      Path directory,
      Secret agentKey,
      long sessionKey,
      Optional<String> knownSession)
      throws AgentStartException {
    ServerSettings settings = registration.effective();
    proxy.bind(proxyBinding(registration, agentKey));
    try {
      return plan.start(
          new AgentSlot(
              directory,
              registration.sessionId(),
              registration.instanceId(),
              URI.create("http://127.0.0.1:" + proxy.port() + registration.router().apiPrefix()),
              agentKey,
              Duration.ofMillis(settings.routerTimeout()),
              registration.systemPrompt().map(SessionSnapshot.SystemPrompt::text),
              knownSession,
              Durations.ofSeconds(settings.healthCheckTimeout()),
              Durations.ofSeconds(settings.healthCheckInterval()),
              processes,
              clock));
    } catch (AgentStartException | RuntimeException failure) {
      proxy.unbind();
      throw failure;
    }
  }

  static ProxyBinding proxyBinding(Registration registration, Secret agentKey) {
    return new ProxyBinding(
        registration.sessionId(),
        registration.instanceId(),
        registration.request().sandboxId(),
        registration.router().origin(),
        registration.router().apiPrefix(),
        agentKey,
        registration.proxyOptions(),
        SecretOptions.secrets(registration.request().backendOptions()));
  }
}
