package dev.blackbox.control;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.blackbox.kernel.Resource;
import dev.blackbox.wire.Json;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** An engine on a real socket that pauses and resumes as a test says. */
final class PausingEngine implements Resource {

  /** What comes back for a pause or resume; nothing means that the connection breaks. */
  record Answer(int status, String body) {}

  private static final String CHAT =
      """
      {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0,
       "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
       "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}}\
      """;

  /** {@code begin} and {@code end} of each call, in order. */
  final List<String> events = new CopyOnWriteArrayList<>();

  /** Bodies of pauses and resumes. */
  final List<Map<String, @Nullable Object>> bodies = new CopyOnWriteArrayList<>();

  /** The version that each model call expected, or {@code none}. */
  final List<String> expectedVersions = new CopyOnWriteArrayList<>();

  volatile Optional<Answer> pause = Optional.of(new Answer(200, "{\"quiesced\":true}"));
  volatile Optional<Answer> resume = Optional.of(new Answer(200, "{}"));

  /** Pauses are not answered before it opens. */
  volatile CountDownLatch pauseGate = new CountDownLatch(0);

  /** Model calls are not answered before it opens. */
  volatile CountDownLatch chatGate = new CountDownLatch(0);

  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final HttpServer server;

  PausingEngine() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    }
    server.setExecutor(threads);
    server.createContext("/v1/rollout/pause", call -> serve(call, "pause"));
    server.createContext("/v1/rollout/resume", call -> serve(call, "resume"));
    server.createContext("/v1/chat/completions", call -> serve(call, "chat"));
    server.start();
  }

  String router() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  private void serve(HttpExchange call, String what) throws IOException {
    events.add("begin " + what);
    try (call) {
      byte[] body = call.getRequestBody().readAllBytes();
      Optional<Answer> answer =
          switch (what) {
            case "chat" -> {
              String version = call.getRequestHeaders().getFirst("X-Dressage-Expected-Version");
              expectedVersions.add(version == null ? "none" : version);
              await(chatGate);
              yield Optional.of(new Answer(200, CHAT));
            }
            case "pause" -> {
              bodies.add(Json.object(new String(body, StandardCharsets.UTF_8)));
              await(pauseGate);
              yield pause;
            }
            default -> {
              bodies.add(Json.object(new String(body, StandardCharsets.UTF_8)));
              yield resume;
            }
          };
      events.add("end " + what);
      if (answer.isPresent()) {
        send(call, answer.get());
      }
    }
  }

  private static void send(HttpExchange call, Answer answer) throws IOException {
    byte[] bytes = answer.body().getBytes(StandardCharsets.UTF_8);
    call.getResponseHeaders().add("Content-Type", "application/json");
    call.sendResponseHeaders(answer.status(), bytes.length);
    try (OutputStream out = call.getResponseBody()) {
      out.write(bytes);
    }
  }

  private static void await(CountDownLatch gate) {
    try {
      boolean _ = gate.await(30, TimeUnit.SECONDS);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    pauseGate.countDown();
    chatGate.countDown();
    server.stop(0);
    threads.shutdownNow();
  }
}
