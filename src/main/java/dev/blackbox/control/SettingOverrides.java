package dev.blackbox.control;

import java.util.Map;

/**
 * Puts a registration's {@code server_config} over the server's own settings. Values are checked by
 * the HTTP door.
 */
final class SettingOverrides {

  private SettingOverrides() {}

  static ServerSettings apply(ServerSettings base, Map<String, Object> overrides) {
    return new ServerSettings(
        base.host(),
        base.port(),
        overrides.get("runtime_root") instanceof String root ? root : base.runtimeRoot(),
        integer(overrides, "max_sessions", base.maxSessions()),
        integer(overrides, "max_turns", base.maxTurns()),
        decimal(overrides, "backend_timeout", base.backendTimeout()),
        decimal(overrides, "execute_cmd_timeout", base.executeCmdTimeout()),
        integer(overrides, "router_timeout", base.routerTimeout()),
        base.shutdownTimeout(),
        base.healthCheckInterval(),
        base.healthCheckTimeout(),
        decimal(overrides, "runtime_health_check_interval", base.runtimeHealthCheckInterval()),
        integer(overrides, "runtime_health_check_retries", base.runtimeHealthCheckRetries()),
        decimal(
            overrides, "runtime_health_check_retry_delay", base.runtimeHealthCheckRetryDelay()));
  }

  private static int integer(Map<String, Object> overrides, String name, int base) {
    return overrides.get(name) instanceof Number number ? number.intValue() : base;
  }

  private static double decimal(Map<String, Object> overrides, String name, double base) {
    return overrides.get(name) instanceof Number number ? number.doubleValue() : base;
  }
}
