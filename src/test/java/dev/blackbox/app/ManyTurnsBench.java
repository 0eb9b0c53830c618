package dev.blackbox.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.app.ServerClient.Answer;
import dev.blackbox.kernel.Closer;
import dev.blackbox.ledger.ManyTurns;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * How start, replay, poll, submit and history depend on the number of turns in the ledger: a real
 * server on one of 1,000 turns and on one of many, one after the other, with the ratios. {@code mvn
 * -Pbench verify -Dtest=ManyTurnsBench}; {@code -Dbench.turns=N} for other than 1,000,000.
 */
@Tag("bench")
class ManyTurnsBench {

  private static final int FEW = 1_000;
  private static final int MANY = Integer.getInteger("bench.turns", 1_000_000);
  private static final int STARTS = 5;
  private static final int WARM = 500;
  private static final int READS = 2_000;
  private static final int SUBMITS = 300;
  private static final Duration LIMIT = Duration.ofMinutes(5);

  @TempDir private Path root;
  private final Closer closer = new Closer();

  @AfterEach
  void endWhatWasStarted() {
    closer.close();
  }

  @Test
  void aLedgerOfManyTurnsIsAsFastAsOneOfFew() throws Exception {
    Path agent = Files.writeString(root.resolve("agent"), "#!/bin/sh\ncat >/dev/null\necho done\n");
    Files.setPosixFilePermissions(agent, PosixFilePermissions.fromString("rwxr-xr-x"));
    Place few = place(FEW);
    Place many = place(MANY);
    // One sample of each in turn, so that both find the machine in the same state.
    for (int i = 0; i < STARTS; i++) {
      few.startsAndEnds();
      many.startsAndEnds();
    }
    for (int i = 0; i < STARTS; i++) {
      few.startsAndIsKilled();
      many.startsAndIsKilled();
    }
    few.serves();
    many.serves();
    for (int i = 0; i < WARM + READS; i++) {
      few.reads(i);
      many.reads(i);
    }
    few.registers();
    many.registers();
    for (int i = 0; i < SUBMITS; i++) {
      few.submits(i);
      many.submits(i);
    }
    System.out.printf(
        Locale.ROOT,
        "%n| By turns in the ledger | %,d: p50, p99 | %,d: p50, p99 | ratio of p50, p99 |%n"
            + "|---|---|---|---|%n",
        FEW,
        MANY);
    few.measured.forEach(
        (what, samples) -> {
          if (!what.isEmpty()) {
            System.out.println(row(what, samples, many.samples(what)));
          }
        });
  }

  private static String row(String what, Samples few, Samples many) {
    return String.format(
        Locale.ROOT,
        "| %s | %.2f ms, %.2f ms | %.2f ms, %.2f ms | %.2f, %.2f |",
        what,
        few.p50(),
        few.p99(),
        many.p50(),
        many.p99(),
        many.p50() / few.p50(),
        many.p99() / few.p99());
  }

  private Place place(int turns) throws Exception {
    Path directory = Files.createDirectory(root.resolve("of-" + turns));
    ManyTurns.make(directory.resolve("state"), turns);
    return new Place(directory, turns);
  }

  /** A ledger of so many turns, and what is measured of a server on it. */
  private final class Place {
    private final Path directory;
    private final int turns;
    private @Nullable ServerClient client;
    private final Map<String, Samples> measured = new LinkedHashMap<>();
    private final SplittableRandom random = new SplittableRandom(1);

    Place(Path directory, int turns) {
      this.directory = directory;
      this.turns = turns;
    }

    void startsAndEnds() throws Exception {
      ServerProcess server = started("start to ready");
      server.terminate();
      assertThat(server.awaitEnd(LIMIT)).isZero();
    }

    void startsAndIsKilled() throws Exception {
      started("start to ready after kill -9").kill();
    }

    void serves() throws Exception {
      client =
          closer.own(new ServerClient(started("start to ready after kill -9").address(), LIMIT));
    }

    private ServerClient client() {
      return Objects.requireNonNull(client);
    }

    /** What has no name is not printed. */
    private Samples samples(String what) {
      return measured.computeIfAbsent(what, _ -> new Samples());
    }

    private ServerProcess started(String what) throws Exception {
      long start = System.nanoTime();
      ServerProcess server =
          closer.own(
              ServerProcess.start(
                  List.of(
                      "--port=0",
                      "--max-turns=" + SUBMITS,
                      "--state-dir=" + directory.resolve("state"),
                      "--runtime-root=" + directory.resolve("runtime"),
                      "--script-agent=" + root.resolve("agent")),
                  Map.of(),
                  directory.resolve("log")));
      server.awaitReady(LIMIT);
      samples(what).add((System.nanoTime() - start) / 1e6);
      samples(what + ", CPU").add(new ProcessFigures(server.pid()).cpuSeconds() * 1000);
      return server;
    }

    /** Of turns at random, as hardly any is asked for twice: what was read lately is not asked. */
    void reads(int number) throws Exception {
      poll(number < WARM ? "" : "poll of an old turn");
      replay(number < WARM ? "" : "replay of an old turn");
      if (number >= WARM && number % 10 == 0) {
        history("first page of an old session's history");
        get("/v1/status", "status");
      }
    }

    private void poll(String what) throws Exception {
      int turn = random.nextInt(turns);
      Answer answer = get(path(turn) + "/turns/" + id(turn), what);
      assertThat(answer.field("status")).isEqualTo("committed");
    }

    private void history(String what) throws Exception {
      String query = "?include_history=true&include_turns=true&limit=10";
      assertThat(get(path(random.nextInt(turns)) + query, what).text())
          .contains("as it was yesterday");
    }

    private Answer get(String path, String what) throws Exception {
      long start = System.nanoTime();
      Answer answer = client().get(path);
      samples(what).add((System.nanoTime() - start) / 1e6);
      assertThat(answer.status()).as(answer.text()).isEqualTo(200);
      return answer;
    }

    private void replay(String what) throws Exception {
      int turn = random.nextInt(turns);
      long start = System.nanoTime();
      Answer answer = submit(path(turn), id(turn), "sync");
      samples(what).add((System.nanoTime() - start) / 1e6);
      assertThat(answer.field("idempotent_replay")).as(answer.text()).isEqualTo("true");
    }

    void registers() throws Exception {
      Answer registered =
          client()
              .post(
                  "/v1/rollout/register",
                  Map.of(
                      "blackbox_type", "script",
                      "router", "http://127.0.0.1:9",
                      "bound_session_id", "new",
                      "bound_instance_id", "i1"));
      assertThat(registered.status()).as(registered.text()).isEqualTo(200);
    }

    void submits(int turn) throws Exception {
      long start = System.nanoTime();
      Answer answer = submit("/v1/sessions/new", "t-" + turn, "async");
      samples("async submit").add((System.nanoTime() - start) / 1e6);
      assertThat(answer.status()).as(answer.text()).isEqualTo(202);
      Answer settled = client().get("/v1/sessions/new/turns/t-" + turn + "?wait=30");
      assertThat(settled.field("status")).as(settled.text()).isEqualTo("committed");
    }

    private Answer submit(String session, String turn, String mode) throws InterruptedException {
      return client()
          .post(
              session + "/messages",
              Map.of("turn_id", turn, "mode", mode, "messages", List.of(ManyTurns.REQUEST)));
    }

    private static String path(int turn) {
      return "/v1/sessions/sess-" + (turn / ManyTurns.TURNS_PER_SESSION + 1);
    }

    private static String id(int turn) {
      return "t-" + (turn % ManyTurns.TURNS_PER_SESSION + 1);
    }
  }
}
