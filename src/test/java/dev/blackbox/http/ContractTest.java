package dev.blackbox.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.app.ServerProcess;
import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.ScriptedEngine;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.MalformedJsonException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The contract of the control API: {@code contract.txt}, which also says how it is read, asked of a
 * real server step by step. It is what the reference's contract probes stand for, in our own words,
 * with an agent that is a shell script.
 */
@Timeout(180)
class ContractTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final String MORE = "...";
  private static final Map<String, Pattern> FORMS =
      Map.of(
          "<any>", Pattern.compile(".*", Pattern.DOTALL),
          "<time>", Pattern.compile("\"\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z\""),
          "<hash>", Pattern.compile("\"[0-9a-f]{64}\""),
          "<generated>", Pattern.compile("\"turn-[0-9a-f]{32}\""));
  private static final Map<String, @Nullable Object> REGISTRATION =
      Map.of(
          "blackbox_type", "script",
          "router", "http://127.0.0.1:9",
          "bound_session_id", "s1",
          "bound_instance_id", "i1");
  private static final Map<String, @Nullable Object> SUBMISSION =
      Map.of("messages", List.of(Map.of("role", "user", "content", "hi")));

  @TempDir Path root;

  private final List<String> failures = new ArrayList<>();
  private final Queue<Future<RawClient.Reply>> background = new ArrayDeque<>();
  private int steps;

  /**
   * A request and what must come of it.
   *
   * @param expected empty if nobody waits for the answer here
   */
  private record Step(String section, String request, String headers, String expected) {
    Step at(String engine) {
      return new Step(
          section,
          request.replace("<engine>", engine),
          headers,
          expected.replace("<engine>", engine));
    }
  }

  @Test
  void isKept() throws Exception {
    Path agent =
        Files.writeString(
            root.resolve("agent"),
            """
            #!/bin/sh
            prompt=$(cat)
            case $prompt in fail) exit 3 ;; sleep*) $prompt ;; esac
            echo "heard $prompt"
            """);
    Files.setPosixFilePermissions(agent, PosixFilePermissions.fromString("rwxr-xr-x"));
    Map<String, String> environment =
        Map.of("BBS_SCRIPT_AGENT", "" + agent, "BBS_RUNTIME_ROOT", "" + root.resolve("rt"));
    try (ScriptedEngine engine =
            ScriptedEngine.start(0, EngineScript.always(dev.blackbox.app.engine.Step.text("hi")));
        ServerProcess server =
            ServerProcess.start(List.of("--port=0"), environment, root.resolve("log"));
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      server.awaitReady(LIMIT);
      for (Step step : steps()) {
        run(step.at(engine.origin().toString()), server.address().getPort(), threads);
      }
    }
    assertThat(failures).isEmpty();
    assertThat(steps).isGreaterThan(100);
    assertThat(background).isEmpty();
  }

  private static List<Step> steps() throws IOException {
    List<Step> steps = new ArrayList<>();
    String section = "";
    String request = "";
    StringBuilder headers = new StringBuilder();
    Path table = Path.of("src/test/resources/dev/blackbox/http/contract.txt");
    for (String line : Files.readAllLines(table)) {
      if (line.startsWith("== ")) {
        section = line.substring(3);
      } else if (line.startsWith("> ")) {
        headers.append(line.substring(2)).append("\r\n");
      } else if (line.startsWith("= ")) {
        steps.add(new Step(section, request, headers.toString(), line.substring(2)));
        headers.setLength(0);
      } else if (line.startsWith("& ")) {
        steps.add(new Step(section, line.substring(2), "", ""));
      } else if (!line.isBlank() && !line.startsWith("#")) {
        request = line;
      }
    }
    return steps;
  }

  private void run(Step step, int port, ExecutorService threads) throws Exception {
    steps++;
    if (step.expected().isEmpty()) {
      background.add(threads.submit(() -> send(step, port)));
      return;
    }
    RawClient.Reply reply =
        step.request().equals("JOIN")
            ? background.remove().get(LIMIT.toSeconds(), TimeUnit.SECONDS)
            : send(step, port);
    List<String> found = new ArrayList<>();
    judge(step, reply, found);
    if (!found.isEmpty()) {
      failures.add(
          "%s: %s%n  expected %s%n  got %d %s%n  %s"
              .formatted(
                  step.section(),
                  step.request(),
                  step.expected(),
                  reply.status(),
                  reply.body(),
                  String.join("; ", found)));
    }
  }

  private static RawClient.Reply send(Step step, int port) throws IOException {
    String[] words = step.request().split(" ", 2);
    String rest = words.length > 1 ? words[1] : "";
    String request =
        switch (words[0]) {
          case "REGISTER" -> "POST /v1/rollout/register " + overlaid(REGISTRATION, rest);
          case "SUBMIT" -> "POST /v1/sessions/s1/messages " + overlaid(SUBMISSION, rest);
          default -> step.request();
        };
    String[] parts = request.split(" ", 3);
    byte[] body = (parts.length > 2 ? parts[2] : "").getBytes(StandardCharsets.UTF_8);
    try (RawClient client = new RawClient(port)) {
      client.send(
          parts[0]
              + " "
              + parts[1]
              + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
              + step.headers()
              + "Content-Length: "
              + body.length
              + "\r\n\r\n");
      return client.send(body).reply();
    }
  }

  private static String overlaid(Map<String, @Nullable Object> good, String json) {
    Map<String, @Nullable Object> all = new LinkedHashMap<>(good);
    all.putAll(Json.object(json));
    all.values().removeIf("<absent>"::equals);
    return Json.write(all);
  }

  private static void judge(Step step, RawClient.Reply reply, List<String> found)
      throws MalformedJsonException {
    String[] messageApart = step.expected().split(" // ", 2);
    String[] parts = messageApart[0].split(" ", 3);
    if (reply.status() != Integer.parseInt(parts[0])) {
      found.add("status");
    }
    Map<String, @Nullable Object> body = new LinkedHashMap<>(reply.json());
    String requestId = reply.headers().get("x-request-id");
    if (body.containsKey("request_id") && !Objects.equals(body.remove("request_id"), requestId)) {
      found.add("request_id");
    }
    if (parts[1].startsWith("{")) {
      String pattern = messageApart[0].substring(messageApart[0].indexOf('{'));
      compare("body", Json.parse(pattern), body, found);
      return;
    }
    Map<String, @Nullable Object> error = new LinkedHashMap<>();
    error.put("error", parts[1]);
    error.put("message", "<any>");
    error.put("details", Json.parse(parts[2]));
    compare("body", error, body, found);
    if (messageApart.length > 1
        && !String.valueOf(body.get("message")).contains(messageApart[1].strip())) {
      found.add("message");
    }
  }

  private static void compare(
      String place, @Nullable Object pattern, @Nullable Object actual, List<String> found) {
    if (pattern instanceof Map<?, ?> expected && actual instanceof Map<?, ?> object) {
      expected.forEach(
          (key, value) -> {
            if (!MORE.equals(key)) {
              if (object.containsKey(key)) {
                compare(place + "." + key, value, object.get(key), found);
              } else {
                found.add(place + "." + key + " is missing");
              }
            }
          });
      if (!expected.containsKey(MORE)) {
        object.keySet().stream()
            .filter(key -> !expected.containsKey(key))
            .forEach(key -> found.add(place + "." + key + " is more"));
      }
    } else if (pattern instanceof String form && FORMS.containsKey(form)) {
      if (!FORMS.get(form).matcher(Json.write(actual)).matches()) {
        found.add(place + " is no " + form);
      }
    } else if (!Objects.equals(pattern, actual)) {
      found.add(place);
    }
  }
}
