package dev.blackbox.agent.opencode;

import dev.blackbox.kernel.Secret;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.MalformedJsonException;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Method;
import io.helidon.webclient.api.HttpClientResponse;
import io.helidon.webclient.api.Proxy;
import io.helidon.webclient.http1.Http1Client;
import io.helidon.webclient.http1.Http1ClientRequest;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The calls of opencode's HTTP interface that we need; seen with version 1.18.33. Every call opens
 * a connection of its own, because a kept one may have been closed by the other side when a prompt
 * is sent, and a prompt must not be sent twice.
 */
final class OpencodeClient {

  private static final String USER = "opencode";

  private static final Duration CALL_MAX = Duration.ofSeconds(30);

  /** Zero lets a read wait as long as it takes: a turn has no limit of its own. */
  private static final Duration NO_LIMIT = Duration.ZERO;

  private static final int ANSWER_BYTES_MAX = 64 << 20;

  /** Messages per page of a history. */
  private static final int PAGE_MESSAGES = 100;

  /** Most pages of one turn: a turn of this length has left every step budget far behind. */
  private static final int PAGES_MAX = 100;

  private static final int ERROR_CHARACTERS_MAX = 1_000;

  private final Http1Client client;
  private final String directory;

  private record Answer(@Nullable Object json, Optional<String> nextPage) {}

  OpencodeClient(int port, Secret password, Path directory) {
    this.directory = directory.toString();
    String credentials = USER + ":" + password.reveal();
    this.client =
        Http1Client.builder()
            .baseUri("http://127.0.0.1:" + port)
            .proxy(Proxy.noProxy())
            .followRedirects(false)
            .keepAlive(false)
            .sendExpectContinue(false)
            .connectTimeout(Duration.ofSeconds(5))
            .addHeader(
                HeaderValues.create(
                    HeaderNames.AUTHORIZATION,
                    "Basic "
                        + Base64.getEncoder()
                            .encodeToString(credentials.getBytes(StandardCharsets.UTF_8))))
            .build();
  }

  boolean isHealthy(Duration within) throws OpencodeCallException {
    return call(Method.GET, "/global/health", Map.of(), null, within).json()
            instanceof Map<?, ?> health
        && Boolean.TRUE.equals(health.get("healthy"));
  }

  /** A title keeps opencode from asking the model for one. */
  String createSession(String title) throws OpencodeCallException {
    Answer answer = call(Method.POST, "/session", Map.of(), Map.of("title", title), CALL_MAX);
    if (answer.json() instanceof Map<?, ?> session
        && session.get("id") instanceof String id
        && !id.isEmpty()) {
      return id;
    }
    throw OpencodeCallException.protocol("POST /session returned no session id");
  }

  boolean sessionExists(String session) throws OpencodeCallException {
    try {
      call(Method.GET, "/session/" + session, Map.of(), null, CALL_MAX);
      return true;
    } catch (OpencodeCallException failed) {
      if (failed.status() == 404 || failed.status() == 400) {
        return false;
      }
      throw failed;
    }
  }

  /** Returns when the turn has ended. What it did is in the messages. */
  void prompt(String session, String text) throws OpencodeCallException {
    call(
        Method.POST,
        "/session/" + session + "/message",
        Map.of(),
        Map.of("parts", List.of(Map.of("type", "text", "text", text)), "agent", "build"),
        NO_LIMIT);
  }

  void abort(String session, Duration within) throws OpencodeCallException {
    call(Method.POST, "/session/" + session + "/abort", Map.of(), Map.of(), within);
  }

  boolean isBusy(String session, Duration within) throws OpencodeCallException {
    Answer answer = call(Method.GET, "/session/status", Map.of(), null, within);
    if (answer.json() instanceof Map<?, ?> busy) {
      return busy.containsKey(session);
    }
    throw OpencodeCallException.protocol("GET /session/status returned no object");
  }

  void dispose(Duration within) throws OpencodeCallException {
    call(Method.POST, "/instance/dispose", Map.of(), Map.of(), within);
  }

  /** Id of the newest message; empty for a session without messages. */
  Optional<String> lastMessageId(String session) throws OpencodeCallException {
    List<Object> newest = messages(session, page(1, null));
    return newest.isEmpty()
        ? Optional.empty()
        : Optional.of(OpencodeTranscript.messageId(newest.getLast()));
  }

  /**
   * Messages in order, oldest first.
   *
   * @param after id of the last message that is known; empty: all messages
   * @throws OpencodeCallException if it is not in the history: then there is no telling what is new
   */
  List<Object> messagesAfter(String session, Optional<String> after) throws OpencodeCallException {
    Deque<List<Object>> pages = new ArrayDeque<>();
    String before = null;
    for (int count = 0; count < PAGES_MAX; count++) {
      Answer answer = get(session, page(PAGE_MESSAGES, before));
      List<Object> messages = OpencodeTranscript.messages(answer.json());
      int known = after.isEmpty() ? -1 : indexOf(messages, after.get());
      pages.addFirst(messages.subList(known + 1, messages.size()));
      if (known >= 0 || answer.nextPage().isEmpty()) {
        if (known < 0 && after.isPresent()) {
          throw OpencodeCallException.protocol(
              "the history went backwards: it has no message " + after.get() + " any more");
        }
        List<Object> all = new ArrayList<>();
        pages.forEach(all::addAll);
        return all;
      }
      before = answer.nextPage().get();
    }
    throw OpencodeCallException.protocol(
        "the turn has more than " + PAGES_MAX * PAGE_MESSAGES + " messages");
  }

  private static int indexOf(List<Object> messages, String id) throws OpencodeCallException {
    for (int i = 0; i < messages.size(); i++) {
      if (OpencodeTranscript.messageId(messages.get(i)).equals(id)) {
        return i;
      }
    }
    return -1;
  }

  private List<Object> messages(String session, Map<String, String> page)
      throws OpencodeCallException {
    return OpencodeTranscript.messages(get(session, page).json());
  }

  private Answer get(String session, Map<String, String> page) throws OpencodeCallException {
    return call(Method.GET, "/session/" + session + "/message", page, null, CALL_MAX);
  }

  private static Map<String, String> page(int limit, @Nullable String before) {
    return before == null
        ? Map.of("limit", Integer.toString(limit))
        : Map.of("limit", Integer.toString(limit), "before", before);
  }

  private Answer call(
      Method method,
      String path,
      Map<String, String> query,
      @Nullable Map<String, Object> body,
      Duration within)
      throws OpencodeCallException {
    Http1ClientRequest request =
        client
            .method(method)
            .path(path)
            .queryParam("directory", directory)
            .readTimeout(within)
            .header(HeaderValues.ACCEPT_JSON);
    query.forEach(request::queryParam);
    try (HttpClientResponse response =
        body == null
            ? request.request()
            : request.header(HeaderValues.CONTENT_TYPE_JSON).submit(Json.writeBytes(body))) {
      int status = response.status().code();
      byte[] bytes = read(response);
      if (status / 100 != 2) {
        throw OpencodeCallException.status(
            method.text() + " " + path + " returned " + status + ": " + shortened(bytes), status);
      }
      return new Answer(
          parse(method.text() + " " + path, bytes),
          response.headers().first(HeaderNames.create("X-Next-Cursor")).filter(c -> !c.isEmpty()));
    } catch (IOException | RuntimeException failed) {
      throw OpencodeCallException.transport(
          method.text() + " " + path + " failed: " + failed.getMessage(), failed);
    }
  }

  private static byte[] read(HttpClientResponse response) throws IOException {
    if (!response.entity().hasEntity()) {
      return new byte[0];
    }
    try (InputStream in = response.inputStream()) {
      byte[] bytes = in.readNBytes(ANSWER_BYTES_MAX + 1);
      if (bytes.length > ANSWER_BYTES_MAX) {
        throw new IOException("the answer is larger than " + ANSWER_BYTES_MAX + " bytes");
      }
      return bytes;
    }
  }

  private static String shortened(byte[] body) {
    String text = new String(body, StandardCharsets.UTF_8);
    return text.length() <= ERROR_CHARACTERS_MAX ? text : text.substring(0, ERROR_CHARACTERS_MAX);
  }

  private static @Nullable Object parse(String what, byte[] body) throws OpencodeCallException {
    try {
      return body.length == 0 ? null : Json.parse(body);
    } catch (MalformedJsonException malformed) {
      throw OpencodeCallException.protocol(
          what + " returned text that is " + malformed.getMessage());
    }
  }
}
