package dev.blackbox.http;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Bodies that each endpoint would take, and for each of their fields what it must refuse. */
final class BadFields {

  static final String REGISTER = "/v1/rollout/register";
  static final String PAUSE = "/v1/rollout/pause";
  static final String RESUME = "/v1/rollout/resume";
  private static final String SESSION = "/v1/sessions/sess-1";
  static final String MESSAGES = SESSION + "/messages";
  static final String EXECUTE = SESSION + "/execute_cmd";

  /** A body that each endpoint would take, in pieces: a field and its JSON. */
  static final Map<String, Map<String, String>> GOOD =
      new TreeMap<>(
          Map.of(
              REGISTER,
              Map.of(
                  "blackbox_type", "\"script\"",
                  "router", "\"http://127.0.0.1:9\"",
                  "bound_session_id", "\"sess-9\"",
                  "bound_instance_id", "\"inst-9\""),
              MESSAGES,
              Map.of("messages", "[{\"role\":\"user\",\"content\":\"hi\"}]", "turn_id", "\"fuzz\""),
              EXECUTE,
              Map.of("cmd", "\"true\""),
              PAUSE,
              Map.of("reason", "\"fuzz\""),
              RESUME,
              Map.of("reason", "\"fuzz\"")));

  private static final List<String> NO_TEXT =
      List.of("null", "5", "1.5", "true", "[]", "{}", "[\"x\"]", "\"a\\u0000b\"", "\"\\ud800\"");
  private static final List<String> NO_TEXT_OR_NULL = NO_TEXT.subList(1, NO_TEXT.size());

  /** Just too long for an identifier; too long for an argument of a program and for a file name. */
  private static final String LONG = "\"" + "x".repeat(129) + "\"";

  private static final String HUGE = "\"" + "x".repeat(200_000) + "\"";
  private static final List<String> NO_OBJECT = List.of("null", "[]", "5", "\"x\"", "true", "NaN");
  private static final List<String> NO_SECONDS =
      List.of("0", "-1", "NaN", "-Infinity", "\"\"", "\"soon\"", "\"0x5\"", "[]", "{}", "\"1 2\"");

  /** For each endpoint and field, values that the door refuses; the empty text leaves it out. */
  static final Map<String, Map<String, List<String>>> BAD =
      new TreeMap<>(
          Map.of(
              REGISTER,
              Map.of(
                  "blackbox_type", with(NO_TEXT, ""),
                  "router", with(NO_TEXT, ""),
                  "router_api_path", NO_TEXT,
                  "bound_session_id", NO_TEXT_OR_NULL,
                  "bound_instance_id", NO_TEXT.subList(1, 7),
                  "bound_sandbox_id", NO_TEXT_OR_NULL,
                  "system_prompt_file", NO_TEXT_OR_NULL,
                  "backend_options", NO_OBJECT,
                  "server_config",
                      List.of(
                          "[]",
                          "5",
                          "{\"max_turns\":-1}",
                          "{\"max_turns\":1e400}",
                          "{\"max_sessions\":0}",
                          "{\"backend_timeout\":0}",
                          "{\"router_timeout\":\"x\"}",
                          "{\"runtime_root\":[]}")),
              MESSAGES,
              Map.of(
                  "messages",
                      List.of(
                          "",
                          "null",
                          "{}",
                          "\"hi\"",
                          "[null]",
                          "[[]]",
                          "[{}]",
                          "[{\"role\":\"robot\"}]",
                          "[{\"role\":\"user\",\"content\":5}]",
                          "[{\"role\":\"user\",\"content\":\"\\udfff\"}]",
                          "[{\"role\":\"user\",\"tool_calls\":[{}]}]",
                          "[" + "7,".repeat(10_000) + "7]"),
                  "mode", List.of("null", "5", "\"later\"", "\"SYNC\"", "[]"),
                  "turn_id",
                      with(
                          NO_TEXT_OR_NULL,
                          "\"\"",
                          "\"-x\"",
                          "\"a b\"",
                          "\"é\"",
                          "\"a/b\"",
                          LONG,
                          HUGE),
                  "metadata", NO_OBJECT),
              EXECUTE,
              Map.of(
                  "cmd", with(NO_TEXT.subList(0, 7), ""),
                  "timeout", NO_SECONDS,
                  "mode", List.of("null", "5", "\"later\"", "\"ASYNC\"", "[]"),
                  "command_id",
                      with(NO_TEXT_OR_NULL, "\"\"", "\"-x\"", "\"a b\"", "\"a/b\"", LONG, HUGE)),
              PAUSE,
              Map.of("reason", NO_TEXT, "timeout_seconds", NO_SECONDS),
              RESUME,
              Map.of("reason", NO_TEXT, "version", NO_TEXT_OR_NULL)));

  /** The same, of values that pass the door and are refused behind it. */
  static final Map<String, Map<String, List<String>>> BAD_BEHIND =
      new TreeMap<>(
          Map.of(
              REGISTER,
              Map.of(
                  "blackbox_type", List.of("\"\"", "\"Script\"", HUGE),
                  "router", List.of("\"\"", "\"http://\"", "\"  \"", "\"http://[x\""),
                  "bound_session_id", List.of("", "null", "\"\"", "\"a b\"", LONG, HUGE),
                  "bound_instance_id", List.of("", "\"\"", "\"a\\u0000b\"", LONG, HUGE),
                  "system_prompt_file", List.of("\"\"", "\"/\"", LONG, HUGE)),
              MESSAGES,
              Map.of(
                  "messages",
                  List.of(
                      "[]",
                      "[{\"role\":\"user\",\"content\":\"\"}]",
                      "[{\"role\":\"tool\",\"content\":\"x\"}]",
                      "[" + "{\"role\":\"user\"},".repeat(10_000) + "{\"role\":\"user\"}]"),
                  "turn_id",
                  List.of("\"\"", "\"-x\"", LONG, HUGE)),
              EXECUTE,
              Map.of(
                  "cmd",
                  List.of("\"\"", "\" \"", "\"a\\nb\"", "\"a\\rb\"", "\"a\\u0000b\"", HUGE),
                  "command_id",
                  List.of("\"\"", "\"-x\"", LONG, HUGE))));

  private BadFields() {}

  private static List<String> with(List<String> values, String... more) {
    return Stream.concat(values.stream(), Stream.of(more)).toList();
  }
}
