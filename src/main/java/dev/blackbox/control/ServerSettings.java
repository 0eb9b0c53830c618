package dev.blackbox.control;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The settings that the HTTP API reports as {@code config}, under the reference server's names and
 * units.
 *
 * @param maxSessions at least 1
 * @param backendTimeout seconds that a turn may take, pauses not counted
 * @param executeCmdTimeout seconds that a command may take if the caller gives no limit
 * @param routerTimeout milliseconds that an agent should wait for one model call
 * @param shutdownTimeout seconds
 * @param healthCheckInterval seconds between two looks whether a starting agent is ready
 * @param healthCheckTimeout seconds that an agent may take to become ready
 * @param runtimeHealthCheckInterval seconds between two looks at a running agent
 * @param runtimeHealthCheckRetries looks before an agent counts as dead, at least 1
 * @param runtimeHealthCheckRetryDelay seconds between those looks
 */
public record ServerSettings(
    String host,
    int port,
    String runtimeRoot,
    int maxSessions,
    int maxTurns,
    double backendTimeout,
    double executeCmdTimeout,
    int routerTimeout,
    double shutdownTimeout,
    double healthCheckInterval,
    double healthCheckTimeout,
    double runtimeHealthCheckInterval,
    int runtimeHealthCheckRetries,
    double runtimeHealthCheckRetryDelay) {

  /** Reference server, section 8.1, column "default via env"; the address is ours (loopback). */
  public static final ServerSettings DEFAULTS =
      new ServerSettings(
          "127.0.0.1",
          23456,
          "/tmp/blackbox_server",
          1,
          200,
          960.0,
          600.0,
          600_000,
          30.0,
          2.0,
          60.0,
          10.0,
          3,
          0.5);

  /** The {@code config} object of the HTTP API, in its order. */
  public Map<String, Object> toTree() {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("host", host);
    tree.put("port", port);
    tree.put("runtime_root", runtimeRoot);
    tree.put("max_sessions", maxSessions);
    tree.put("max_turns", maxTurns);
    tree.put("backend_timeout", backendTimeout);
    tree.put("execute_cmd_timeout", executeCmdTimeout);
    tree.put("router_timeout", routerTimeout);
    tree.put("shutdown_timeout", shutdownTimeout);
    tree.put("health_check_interval", healthCheckInterval);
    tree.put("health_check_timeout", healthCheckTimeout);
    tree.put("runtime_health_check_interval", runtimeHealthCheckInterval);
    tree.put("runtime_health_check_retries", runtimeHealthCheckRetries);
    tree.put("runtime_health_check_retry_delay", runtimeHealthCheckRetryDelay);
    return tree;
  }
}
