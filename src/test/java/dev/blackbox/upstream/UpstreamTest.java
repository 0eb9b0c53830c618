package dev.blackbox.upstream;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.Fault;
import dev.blackbox.app.engine.ScriptedEngine;
import dev.blackbox.app.engine.Step;
import dev.blackbox.upstream.UpstreamException.Kind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class UpstreamTest {

  private static final Duration LONG = Duration.ofSeconds(10);
  private static final Duration PROMPTLY = Duration.ofSeconds(1);
  private static final UpstreamDeadlines PATIENT =
      new UpstreamDeadlines(LONG, LONG, Optional.empty());
  private static final String BODY =
      "{\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}";

  private ScriptedEngine engine;
  private Upstream upstream;

  @BeforeEach
  void start() {
    engine = ScriptedEngine.start(0, EngineScript.always(Step.text("hello")));
    upstream = Upstream.create(Duration.ofSeconds(2));
  }

  @AfterEach
  void stop() {
    upstream.close();
    engine.close();
  }

  @Test
  void answerComesWithItsHead() throws UpstreamException {
    try (UpstreamCall call = begin(PATIENT)) {
      UpstreamHead head = call.head();
      assertThat(head.status()).isEqualTo(200);
      assertThat(head.header("content-type")).hasValue("text/event-stream; charset=utf-8");
      String body = new String(call.readAll(1 << 20), StandardCharsets.UTF_8);
      assertThat(body).contains("hello").endsWith("data: [DONE]\n\n");
    }
  }

  @Test
  void whatCameBeforeACutIsHandedOut() throws UpstreamException {
    engine.script(EngineScript.always(Step.text("hello").with(new Fault.CutAfterEvents(2, false))));
    try (UpstreamCall call = begin(PATIENT)) {
      call.head();
      byte[] buffer = new byte[64 << 10];
      StringBuilder got = new StringBuilder();
      UpstreamException failure =
          catchThrowableOfType(
              UpstreamException.class,
              () -> {
                for (int n = call.read(buffer); n >= 0; n = call.read(buffer)) {
                  got.append(new String(buffer, 0, n, StandardCharsets.UTF_8));
                }
              });
      assertThat(failure.kind()).isEqualTo(Kind.BROKEN);
      assertThat(got).contains("hello");
    }
  }

  /** The client may see the end of the connection before it has told anybody of the head. */
  @Test
  void anAnswerThatComesTogetherWithItsCutIsHandedOut() throws Exception {
    String cut = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\nwo";
    try (ServerSocket server = new ServerSocket(0)) {
      for (int i = 0; i < 300; i++) {
        CompletableFuture<Void> served = CompletableFuture.runAsync(() -> answerOnce(server, cut));
        try (UpstreamCall call =
            upstream.begin(request("http://127.0.0.1:" + server.getLocalPort(), PATIENT))) {
          assertThat(call.head().status()).as("call %d", i).isEqualTo(200);
          byte[] got = new byte[100];
          assertThat(call.read(got)).isGreaterThanOrEqualTo(5);
          assertThat(new String(got, 0, 5, StandardCharsets.UTF_8)).isEqualTo("hello");
        }
        served.get(5, TimeUnit.SECONDS);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello",
        "HTTP/1.0 200 OK\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nt: v\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
      })
  void everyFramingOfHttpIsUnderstood(String answer) throws Exception {
    try (ServerSocket server = new ServerSocket(0)) {
      CompletableFuture<Void> served = CompletableFuture.runAsync(() -> answerOnce(server, answer));
      try (UpstreamCall call =
          upstream.begin(request("http://127.0.0.1:" + server.getLocalPort(), PATIENT))) {
        assertThat(call.head().status()).isEqualTo(200);
        assertThat(new String(call.readAll(100), StandardCharsets.UTF_8)).isEqualTo("hello");
      }
      served.get(5, TimeUnit.SECONDS);
    }
  }

  @Test
  void closingFreesTheThreadThatWaitsForTheHead() throws Exception {
    engine.script(EngineScript.always(Step.text("x").withDelayBeforeFirst(LONG)));
    UpstreamCall call = begin(PATIENT);
    CompletableFuture<Kind> outcome = inBackground(call::head);
    await().until(() -> engine.chatRequests().size() == 1);
    assertClosingEnds(call, outcome);
  }

  @Test
  void closingFreesTheThreadThatReads() throws Exception {
    engine.script(EngineScript.always(Step.text("x").with(new Fault.Stall(1, LONG))));
    UpstreamCall call = begin(PATIENT);
    call.head();
    byte[] buffer = new byte[1000];
    assertThat(call.read(buffer)).isPositive();
    CompletableFuture<Kind> outcome = inBackground(() -> call.read(buffer));
    assertClosingEnds(call, outcome);
  }

  /** An engine that is in the middle of a write sees our end of the connection close. */
  @Test
  void closingEndsAnAnswerThatIsNotRead() throws Exception {
    try (ServerSocket server = new ServerSocket(0)) {
      UpstreamCall call =
          upstream.begin(request("http://127.0.0.1:" + server.getLocalPort(), PATIENT));
      Socket socket = server.accept();
      assertThat(socket.getInputStream().read(new byte[4096])).isPositive();
      CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> writeUntilClosed(socket));
      call.head();
      assertThat(call.read(new byte[1000])).isPositive();
      call.close();
      socket.setSoTimeout((int) PROMPTLY.toMillis());
      assertThat(socket.getInputStream().readAllBytes()).hasSizeLessThan(4096);
      // The JDK's client lets go of the socket itself when its selector next wakes up, after 3 s.
      writing.get(10, TimeUnit.SECONDS);
    }
  }

  @Test
  void p10EachDeadlineIsKept() throws Exception {
    Duration shortly = Duration.ofMillis(200);
    engine.script(EngineScript.always(Step.text("x").withDelayBeforeFirst(LONG)));
    UpstreamCall late = begin(new UpstreamDeadlines(shortly, LONG, Optional.empty()));
    assertThat(kindOf(late::head)).isEqualTo(Kind.TIMEOUT);
    UpstreamCall lateInAll = begin(new UpstreamDeadlines(LONG, LONG, Optional.of(shortly)));
    assertThat(kindOf(lateInAll::head)).isEqualTo(Kind.TIMEOUT);

    engine.script(EngineScript.always(Step.text("x").with(new Fault.Stall(1, LONG))));
    UpstreamCall stalled = begin(new UpstreamDeadlines(LONG, shortly, Optional.empty()));
    stalled.head();
    assertThat(kindOf(() -> stalled.readAll(1000))).isEqualTo(Kind.TIMEOUT);
    UpstreamCall stalledInAll =
        begin(new UpstreamDeadlines(LONG, LONG, Optional.of(Duration.ofSeconds(1))));
    stalledInAll.head();
    assertThat(kindOf(() -> stalledInAll.readAll(1000))).isEqualTo(Kind.TIMEOUT);
    await().atMost(PROMPTLY).until(() -> engine.disconnects() == 4);
  }

  @Test
  void p10AnswerBeyondTheBoundIsRefused() throws UpstreamException {
    try (UpstreamCall call = begin(PATIENT)) {
      call.head();
      assertThat(kindOf(() -> call.readAll(10))).isEqualTo(Kind.TOO_LARGE);
    }
  }

  @Test
  void nobodyElsesThreadsAreNeeded() throws Exception {
    CountDownLatch over = new CountDownLatch(1);
    List<ForkJoinTask<?>> blockers = new ArrayList<>();
    for (int i = 0; i < ForkJoinPool.getCommonPoolParallelism() + 1; i++) {
      blockers.add(ForkJoinPool.commonPool().submit(() -> over.await(20, TimeUnit.SECONDS)));
    }
    try (UpstreamCall call = begin(PATIENT)) {
      assertThat(call.head().status()).isEqualTo(200);
      assertThat(call.readAll(1 << 20)).isNotEmpty();
    } finally {
      over.countDown();
      blockers.forEach(ForkJoinTask::join);
    }
  }

  @Test
  void systemWideProxiesAreIgnored() throws UpstreamException {
    String before = System.getProperty("http.proxyHost");
    System.setProperty("http.proxyHost", "127.0.0.1");
    System.setProperty("http.proxyPort", "1");
    try (Upstream fresh = Upstream.create(LONG);
        UpstreamCall call = fresh.begin(request(engine.origin().toString(), PATIENT))) {
      assertThat(call.head().status()).isEqualTo(200);
    } finally {
      System.clearProperty("http.proxyPort");
      if (before == null) {
        System.clearProperty("http.proxyHost");
      } else {
        System.setProperty("http.proxyHost", before);
      }
    }
  }

  private UpstreamCall begin(UpstreamDeadlines deadlines) {
    return upstream.begin(request(engine.origin().toString(), deadlines));
  }

  private static UpstreamRequest request(String origin, UpstreamDeadlines deadlines) {
    return new UpstreamRequest(
        "POST",
        URI.create(origin + "/v1/chat/completions"),
        Map.of("Content-Type", List.of("application/json")),
        BODY.getBytes(StandardCharsets.UTF_8),
        deadlines);
  }

  private void assertClosingEnds(UpstreamCall call, CompletableFuture<Kind> outcome)
      throws Exception {
    call.close();
    assertThat(outcome.get(PROMPTLY.toMillis(), TimeUnit.MILLISECONDS)).isEqualTo(Kind.CANCELLED);
    await().atMost(PROMPTLY).until(() -> engine.disconnects() == 1);
  }

  private static CompletableFuture<Kind> inBackground(Callable<?> work) {
    return CompletableFuture.supplyAsync(() -> kindOf(work));
  }

  private static Kind kindOf(Callable<?> work) {
    return catchThrowableOfType(UpstreamException.class, work::call).kind();
  }

  private static void writeUntilClosed(Socket socket) {
    try {
      byte[] head = "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n".getBytes(US_ASCII);
      socket.getOutputStream().write(head);
      byte[] part = new byte[64 << 10];
      for (int i = 0; i < 10_000; i++) {
        socket.getOutputStream().write(part);
      }
    } catch (IOException closed) {
      return;
    }
    throw new IllegalStateException("nobody closed the connection");
  }

  private static void answerOnce(ServerSocket server, String answer) {
    try (Socket socket = server.accept()) {
      byte[] head = new byte[4096];
      assertThat(socket.getInputStream().read(head)).isPositive();
      socket.getOutputStream().write(answer.getBytes(US_ASCII));
      socket.getOutputStream().flush();
      socket.shutdownOutput();
      // Until the client is done: closing with unread bytes would reset the connection.
      socket.setSoTimeout(5000);
      assertThat(socket.getInputStream().readAllBytes()).isNotNull();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
