package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.app.LedgerInspection;
import dev.blackbox.app.ServerClient;
import dev.blackbox.app.ServerProcess;
import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.ScriptedEngine;
import dev.blackbox.kernel.SessionId;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.ledger.LedgerConfig;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.ledger.LedgerReads;
import dev.blackbox.turn.TurnKey;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@link FaultTable} in a whole server: a turn for each fault in each dialect, whose agent makes
 * one call and keeps what it was told; what it has then, what {@code GET …/turns/{id}} says, and at
 * the end what the call's record in the ledger says.
 */
@Timeout(300)
class FaultsOfAServerTest {

  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** Long enough for a machine that is busy with other tests, since it holds for all rows. */
  private static final String PATIENCE_SECONDS = "0.7";

  /** One turn, in a session of the same name: its place in the table. */
  private record Case(String id, FaultTable.Row row, Tongue tongue) {

    String name() {
      return row.name() + ", " + row.told() + ", " + tongue;
    }

    /** What the agent's program reads: its call's path, the sign of a good end, the body. */
    String prompt() {
      String sign = tongue == Tongue.CHAT ? "data: [DONE]" : "event: " + tongue.lastEvent();
      return tongue.path() + "\n" + (row.stream() ? sign : "") + "\n" + tongue.body(row.stream());
    }
  }

  @TempDir private static Path root;
  private static ScriptedEngine engine;
  private static ServerProcess server;
  private static ServerClient client;

  @BeforeAll
  static void start() throws Exception {
    engine = ScriptedEngine.start(0, EngineScript.always(FaultTable.TEXT));
    server =
        ServerProcess.start(
            List.of(
                "--port=0",
                "--runtime-root=" + root.resolve("rt"),
                "--script-agent=" + agent(),
                "--proxy-response-bytes-max=1048576",
                "--proxy-first-byte-timeout=" + PATIENCE_SECONDS,
                "--proxy-idle-timeout=" + PATIENCE_SECONDS,
                "--proxy-retries-max=2",
                "--proxy-retry-delay=0.001"),
            Map.of(),
            root.resolve("server.log"));
    server.awaitReady(LIMIT);
    client = new ServerClient(server.address(), LIMIT);
  }

  @AfterAll
  static void end() {
    client.close();
    server.close();
    engine.close();
  }

  @TestFactory
  Stream<DynamicTest> p9EachFaultIsSaidByTheServerToo() {
    List<Case> cases = new ArrayList<>();
    FaultTable.rows()
        .forEach(
            row -> {
              for (Tongue tongue : Tongue.values()) {
                cases.add(new Case("t" + cases.size(), row, tongue));
              }
            });
    return Stream.concat(
        cases.stream().map(one -> DynamicTest.dynamicTest(one.name(), () -> checkTurn(one))),
        Stream.of(DynamicTest.dynamicTest("the ledger's records", () -> checkLedger(cases))));
  }

  private static void checkTurn(Case one) throws Exception {
    // A session for each: where a turn fails after its agent has begun, nobody knows how it stands.
    ScriptRollout.register(client, engine, one.id());
    engine.script(EngineScript.always(FaultTable.step(one.row())));
    ServerClient.Answer answer =
        client.post(
            "/v1/sessions/" + one.id() + "/messages",
            Map.of(
                "turn_id",
                one.id(),
                "messages",
                List.of(Map.of("role", "user", "content", one.prompt()))));
    assertThat(answer.status()).as(answer.text()).isEqualTo(502);
    byte[] told = Files.readAllBytes(root.resolve(one.id()));
    FaultTable.checkAnswer(
        one.row(), one.tongue(), new AnswerReader(new ByteArrayInputStream(told)).answer());
    ServerClient.Answer turn = client.get("/v1/sessions/" + one.id() + "/turns/" + one.id());
    assertThat(turn.status()).as(turn.text()).isEqualTo(200);
    assertThat(turn.field("status")).as(turn.text()).isEqualTo("unknown");
    assertThat(turn.field("error"))
        .as(turn.text())
        .contains("backend_error", "script exited with code 1", "upstream error: ");
    ScriptRollout.abort(client, one.id());
  }

  private static void checkLedger(List<Case> cases) throws Exception {
    server.terminate();
    assertThat(server.awaitEnd(LIMIT)).isZero();
    try (LedgerInspection ledger =
        LedgerInspection.open(LedgerConfig.at(root.resolve("rt/state")))) {
      LedgerReads reads = ledger.reads();
      for (Case one : cases) {
        long session = reads.session(SessionId.parse(one.id())).orElseThrow().key();
        List<LedgerFacts.CallRecord> calls =
            reads.calls(new TurnKey(session, TurnId.parse(one.id())));
        assertThat(calls).as(one.name()).hasSize(1);
        checkRecord(one, calls.getFirst());
      }
    }
  }

  private static void checkRecord(Case one, LedgerFacts.CallRecord call) {
    String name = one.name();
    assertThat(call.start().dialect()).as(name).isEqualTo(one.tongue().recorded());
    assertThat(call.start().stream()).as(name).isEqualTo(one.row().stream());
    LedgerFacts.CallEnded end = call.end().orElseThrow();
    FaultTable.checkNumber(end.status(), one.row().record().get(0));
    assertThat(end.verdict()).as(name).isEqualTo(one.row().record().get(1));
    assertThat(end.retries()).as(name).isEqualTo(one.row().retries());
    assertThat(end.error()).as(name).isPresent();
  }

  /** Makes its call, keeps the answer as it came, and fails if it is no good one. */
  private static Path agent() throws IOException {
    Path program = root.resolve("agent.sh");
    Files.writeString(
        program,
        """
        #!/bin/bash
        base=${OPENAI_BASE_URL#http://}
        authority=${base%%%%/*}
        read -r path && read -r sign && read -r body
        exec 3<> "/dev/tcp/${authority%%%%:*}/${authority##*:}"
        printf 'POST %%s HTTP/1.1\r\nHost: %%s\r\nAuthorization: Bearer %%s\r\nContent-Type: application/json\r\nContent-Length: %%d\r\nConnection: close\r\n\r\n%%s' \\
          "$path" "$authority" "$OPENAI_API_KEY" "${#body}" "$body" >&3
        told='%1$s'/$BBS_TURN_ID
        cat <&3 >"$told"
        answer=$(<"$told")
        [[ $answer == 'HTTP/1.1 200'* && $answer == *"$sign"* ]]
        """
            .formatted(root));
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    return program;
  }
}
