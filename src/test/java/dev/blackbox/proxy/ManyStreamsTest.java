package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.UnixOperatingSystemMXBean;
import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.Step;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A thousand streams at once, of all dialects. The engine sends the next text only when all agents
 * have the one before: one stream that stalls, or is held back, stops the test.
 */
@Timeout(600)
class ManyStreamsTest {

  private static final int STREAMS = 1000;

  /** Both ends of both connections of a stream are in this process. */
  private static final int HANDLES_PER_STREAM = 4;

  private static final int HANDLES_FOR_THE_REST = 500;
  private static final int TEXTS = 7;
  private static final int TEXT_CHARACTERS = 8 << 10;
  private static final Duration LONG = Duration.ofMinutes(3);
  private static final ProxyConfig CONFIG =
      new ProxyConfig(0, 1 << 20, 1 << 20, 2 * STREAMS, LONG, LONG, LONG);

  /** The first looks find what starting left behind. */
  private static final int TEXTS_BEFORE = 3;

  private static final long BYTES_BETWEEN =
      (long) STREAMS * (TEXTS - 1 - TEXTS_BEFORE) * TEXT_CHARACTERS;

  /**
   * What the heap may grow by in the middle of the streams: half of what passes. A Responses stream
   * repeats its text at its end, so a third of the streams do keep theirs; if those of one more
   * dialect did, it would be two thirds.
   */
  private static final long GROWTH_BYTES_MAX = BYTES_BETWEEN / 2;

  /** Of less than an answer may have that is translated, 32 million characters. */
  private static final int LONG_BYTES = 28 << 20;

  /** What may be on its way within the proxy, and be kept for a retry; a third of what passes. */
  private static final long LONG_GROWTH_BYTES_MAX = 7 << 20;

  /** One for each text; opened when all may have it. */
  private final List<CountDownLatch> gates =
      Stream.generate(() -> new CountDownLatch(1)).limit(TEXTS).toList();

  /** One for each text; open when all have it. */
  private final List<CountDownLatch> got =
      Stream.generate(() -> new CountDownLatch(STREAMS)).limit(TEXTS).toList();

  @Test
  void aThousandStreamsGoOnAtOnceInLittleMemory() throws Exception {
    needsHandles();
    try (RawEngine engine = new RawEngine(this::send);
        ProxyRig rig = new ProxyRig(CONFIG, EngineScript.always(Step.text("unused")));
        ExecutorService agents = Executors.newVirtualThreadPerTaskExecutor()) {
      rig.proxy.bind(
          ProxyRig.binding(
              engine.origin(), new ProxyOptions("", OptionalInt.empty(), OptionalDouble.empty())));
      try (TurnScope turn = rig.openTurn("t1")) {
        List<Tongue> tongues = List.of(Tongue.values());
        List<Future<Boolean>> all = new ArrayList<>();
        for (int i = 0; i < STREAMS; i++) {
          Tongue tongue = tongues.get(i % tongues.size());
          all.add(agents.submit(() -> follow(rig, tongue)));
        }
        long[] heap = new long[TEXTS];
        for (int text = 0; text < TEXTS; text++) {
          heap[text] = heapWhenAllHaveText(text, turn);
        }
        // Not the last look: the streams end then, and let go of what they have.
        long growth = heap[TEXTS - 2] - heap[TEXTS_BEFORE - 1];
        for (Future<Boolean> one : all) {
          assertThat(one.get(LONG.toSeconds(), TimeUnit.SECONDS)).as("a good end").isTrue();
        }
        System.out.printf(
            "%d streams at once, heap %+d KiB while %d KiB passed%n",
            STREAMS, growth >> 10, BYTES_BETWEEN >> 10);
        assertThat(growth).as("growth of the heap").isLessThan(GROWTH_BYTES_MAX);
        assertThat(turn.drain(LONG)).isTrue();
      }
      await().atMost(LONG).until(() -> rig.sink.ended().size() == STREAMS);
      assertThat(rig.sink.ended()).allSatisfy(end -> assertThat(end.verdict()).isEqualTo("ok"));
    }
  }

  /** Lets this text go, waits until all agents have it, and says what is in use then. */
  private long heapWhenAllHaveText(int text, TurnScope turn) throws InterruptedException {
    gates.get(text).countDown();
    boolean whole = got.get(text).await(LONG.toSeconds(), TimeUnit.SECONDS);
    assertThat(whole).as("%d lack text %d", got.get(text).getCount(), text).isTrue();
    if (text < TEXTS - 1) {
      assertThat(turn.callsInFlight()).as("all at once").isEqualTo(STREAMS);
    }
    return heapInUse();
  }

  private static long heapInUse() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  /**
   * One body, far longer than the bound, of which nothing may stay; Responses repeats its text at
   * its end, and has a bound of its own.
   */
  @ParameterizedTest
  @EnumSource(names = {"CHAT", "ANTHROPIC"})
  void aLongStreamIsNotKept(Tongue tongue) throws Exception {
    try (RawEngine engine = new RawEngine(ManyStreamsTest::sendLong);
        ProxyRig rig = new ProxyRig(CONFIG, EngineScript.always(Step.text("unused")))) {
      rig.proxy.bind(ProxyRig.binding(engine.origin(), ProxyOptions.DEFAULTS));
      try (TurnScope turn = rig.openTurn("t1");
          TestAgent agent = new TestAgent(rig.proxy.port(), LONG)) {
        tongue.send(agent, tongue.body(true), "x-stainless-retry-count: 0");
        assertThat(agent.head().status()).isEqualTo(200);
        readUpTo(agent, LONG_BYTES / 8);
        long before = heapInUse();
        readUpTo(agent, LONG_BYTES * 3L / 4);
        long growth = heapInUse() - before;
        System.out.printf("%s: one long stream, heap %+d KiB%n", tongue, growth >> 10);
        assertThat(growth).isLessThan(LONG_GROWTH_BYTES_MAX);
        assertThat(turn.callsInFlight()).isEqualTo(1);
      }
    }
  }

  private static void readUpTo(TestAgent agent, long bytes) throws IOException {
    long read = 0;
    while (read < bytes) {
      int length = agent.chunk().length();
      assertThat(length).as("the stream ended after %d bytes", read).isPositive();
      read += length;
    }
  }

  private static void sendLong(RawEngine.Packets packets) throws IOException {
    byte[] event = event("{\"content\":\"" + "x".repeat(TEXT_CHARACTERS) + "\"}", "null");
    for (int sent = 0; sent < LONG_BYTES; sent += TEXT_CHARACTERS) {
      packets.send(event);
    }
    packets.send(event("{}", "\"stop\""));
  }

  private void send(RawEngine.Packets packets) throws IOException, InterruptedException {
    for (CountDownLatch gate : gates) {
      gate.await();
      packets.send(event("{\"content\":\"" + "x".repeat(TEXT_CHARACTERS) + "\"}", "null"));
    }
    packets.send(event("{}", "\"stop\""));
    packets.send("data: [DONE]\n\n".getBytes(StandardCharsets.UTF_8));
  }

  private static byte[] event(String delta, String finish) {
    return ("data: {\"choices\":[{\"index\":0,\"delta\":"
            + delta
            + ",\"finish_reason\":"
            + finish
            + "}]}\n\n")
        .getBytes(StandardCharsets.UTF_8);
  }

  /** Reads a stream to its end, and keeps none of it. True if it ended well. */
  private boolean follow(ProxyRig rig, Tongue tongue) throws IOException {
    try (TestAgent agent = new TestAgent(rig.proxy.port(), LONG)) {
      tongue.send(agent, tongue.body(true));
      assertThat(agent.head().status()).isEqualTo(200);
      long bytes = 0;
      int texts = 0;
      String last = "";
      for (String chunk = agent.chunk(); !chunk.isEmpty(); chunk = agent.chunk()) {
        bytes += chunk.length();
        // What is around the texts is far less than one of them.
        while (texts < TEXTS && bytes >= (long) (texts + 1) * TEXT_CHARACTERS) {
          got.get(texts).countDown();
          texts++;
        }
        last = chunk;
      }
      return last.contains(tongue == Tongue.CHAT ? "[DONE]" : tongue.lastEvent());
    }
  }

  private static void needsHandles() {
    int needed = STREAMS * HANDLES_PER_STREAM + HANDLES_FOR_THE_REST;
    long may =
        ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
            ? unix.getMaxFileDescriptorCount()
            : Long.MAX_VALUE;
    String otherwise = "it needs " + needed + " file handles, and may have " + may + ": ulimit -n";
    if (may < needed) {
      System.out.println("ManyStreamsTest is skipped: " + otherwise);
    }
    assumeTrue(may >= needed, otherwise);
  }
}
