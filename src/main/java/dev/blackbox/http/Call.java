package dev.blackbox.http;

import java.util.Map;

/**
 * One request, read and routed.
 *
 * @param path the decoded parts of the path that the route names
 */
record Call(
    String requestId, Map<String, String> path, Query query, RequestHeaders headers, Body body) {

  String sessionId() {
    return part("session_id");
  }

  String commandId() {
    return part("command_id");
  }

  String turnId() {
    return part("turn_id");
  }

  private String part(String name) {
    String value = path.get(name);
    if (value == null) {
      throw new IllegalStateException("the route has no part " + name);
    }
    return value;
  }
}
