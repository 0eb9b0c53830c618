package dev.blackbox.http;

import dev.blackbox.kernel.Problem;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/**
 * The whole API as one table. Paths are compared as they came: case counts, and neither a trailing
 * slash, a doubled one nor a dot segment is folded away.
 */
final class Routes {

  private static final int PATH_ECHO_MAX = 64;

  private static final String SCHEME = "http://";

  private final List<Route> table;

  Routes(
      HealthRoutes health,
      RolloutRoutes rollout,
      SessionRoutes sessions,
      CommandRoutes commands,
      DescriptionRoute description) {
    table =
        List.of(
            Route.get("/health", health::health).evenIfBusy(),
            Route.get("/livez", health::live).evenIfBusy(),
            Route.get("/readyz", health::ready).evenIfBusy(),
            Route.get("/openapi.json", description::show),
            Route.get("/v1/status", rollout::status),
            Route.post("/v1/rollout/register", rollout::register),
            Route.post("/v1/rollout/pause", rollout::pause),
            Route.post("/v1/rollout/resume", rollout::resume),
            Route.get("/v1/rollout/pause_state", rollout::pauseState),
            Route.get("/v1/sessions/{session_id}", sessions::show),
            Route.post("/v1/sessions/{session_id}/messages", sessions::submit),
            Route.get("/v1/sessions/{session_id}/turns/{turn_id}", sessions::turn),
            Route.post("/v1/sessions/{session_id}/turns/{turn_id}/cancel", sessions::cancel),
            Route.post("/v1/sessions/{session_id}/execute_cmd", commands::execute),
            Route.get("/v1/sessions/{session_id}/commands", commands::list),
            Route.get("/v1/sessions/{session_id}/commands/{command_id}", commands::show),
            Route.post("/v1/sessions/{session_id}/commands/{command_id}/cancel", commands::cancel),
            Route.post("/v1/sessions/{session_id}/abort", sessions::abort));
  }

  List<Route> table() {
    return table;
  }

  /**
   * Where a request goes.
   *
   * @param allowed if there is no such method here: those that there are
   */
  record Match(Optional<Route> route, Map<String, String> path, String allowed) {}

  /** Fails with {@code not_found} if the path is nobody's. */
  Match match(String method, String rawPath) {
    List<String> segments = Route.split(origin(rawPath));
    for (Route route : table) {
      if (route.method().equals(method)) {
        Optional<Map<String, String>> path = route.match(segments);
        if (path.isPresent()) {
          return new Match(Optional.of(route), path.get(), route.method());
        }
      }
    }
    TreeSet<String> methods = new TreeSet<>();
    for (Route route : table) {
      if (route.match(segments).isPresent()) {
        methods.add(route.method());
      }
    }
    if (methods.isEmpty()) {
      String shown =
          rawPath.length() <= PATH_ECHO_MAX ? rawPath : rawPath.substring(0, PATH_ECHO_MAX) + "…";
      throw Problem.notFound("There is nothing at " + shown + ".", Map.of("path", shown));
    }
    return new Match(Optional.empty(), Map.of(), String.join(", ", methods));
  }

  /**
   * The path of a request target in absolute form, which every server must take (RFC 9112, 3.2.2).
   */
  private static String origin(String rawPath) {
    if (!rawPath.startsWith(SCHEME)) {
      return rawPath;
    }
    int slash = rawPath.indexOf('/', SCHEME.length());
    return slash < 0 ? "/" : rawPath.substring(slash);
  }

  /** The host of such a target, which then counts instead of the header's. */
  static Optional<String> authority(String rawPath) {
    if (!rawPath.startsWith(SCHEME)) {
      return Optional.empty();
    }
    int slash = rawPath.indexOf('/', SCHEME.length());
    return Optional.of(rawPath.substring(SCHEME.length(), slash < 0 ? rawPath.length() : slash));
  }

  /** Whether a path is one of those that are answered without a token. */
  boolean isOpen(String rawPath) {
    List<String> segments = Route.split(origin(rawPath));
    return table.stream().anyMatch(route -> route.always() && route.match(segments).isPresent());
  }
}
