package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.app.ServerClient;
import dev.blackbox.app.ServerProcess;
import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.EngineUsage;
import dev.blackbox.app.engine.Fault;
import dev.blackbox.app.engine.Part;
import dev.blackbox.app.engine.ScriptedEngine;
import dev.blackbox.app.engine.Step;
import dev.blackbox.proxy.SdkProgram.Outcome;
import dev.blackbox.wire.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The official SDKs within a turn of a whole server: its agent is one of the programs of the other
 * SDK tests. What the SDK gives its user is the turn's answer; steps and tokens are the engine's.
 */
@Tag("agents")
@Timeout(300)
class SdksOfAServerTest {

  private static final Duration LIMIT = Duration.ofMinutes(2);

  @TempDir private static Path root;
  private static ServerProcess server;
  private static ServerClient client;
  private static int sessions;

  /** Of each test its own, with its own count of what went wrong. */
  private ScriptedEngine engine;

  @BeforeAll
  static void start() throws Exception {
    SdkProgram.needs("@anthropic-ai/sdk");
    SdkProgram.needs("openai");
    server =
        ServerProcess.start(
            List.of(
                "--port=0",
                "--runtime-root=" + root.resolve("rt"),
                "--script-agent=" + agent(),
                "--proxy-retry-delay=0.001"),
            Map.of(),
            root.resolve("server.log"));
    server.awaitReady(LIMIT);
    client = new ServerClient(server.address(), LIMIT);
  }

  /** They are missing if the tests are skipped. */
  @AfterAll
  static void end() {
    if (client != null) {
      client.close();
      server.close();
    }
  }

  @BeforeEach
  void register() throws Exception {
    sessions++;
    engine = ScriptedEngine.start(0, EngineScript.always(SdkStage.STEP));
    ScriptRollout.register(client, engine, session());
  }

  @AfterEach
  void abort() throws Exception {
    ScriptRollout.abort(client, session());
    engine.close();
  }

  private static String session() {
    return "s" + sessions;
  }

  /** Program, scenario, and where the text of the last answer is. */
  @ParameterizedTest
  @CsvSource({
    "sdk-anthropic.mjs tools, second.content.0.text, first.message.content.0.id",
    "sdk-openai.mjs tools chat, second.choices.0.message.content,"
        + " first.answer.choices.0.message.tool_calls.0.id",
    "sdk-openai.mjs tools responses, second.output.0.content.0.text, first.answer.output.0.call_id"
  })
  void aTurnWithToolsIsTwoStepsWithTheEnginesTokens(String words, String text, String callId)
      throws Exception {
    engine.script(
        EngineScript.always(
            Step.of(
                new Part.ToolCall("weather", "{\"city\":\"Oslo\"}"),
                new Part.ToolCall("weather", "{\"city\":\"Rome\"}")),
            SdkStage.STEP));
    Outcome got = turn(words);
    assertThat(got.at("result." + text)).isEqualTo(SdkStage.SAID);
    assertThat(engine.chatRequests()).hasSize(2);
    assertThat(engine.chatRequests().getLast().bodyText())
        .contains("sunny in Oslo", "sunny in Rome", String.valueOf(got.at("result." + callId)));
    assertThat(engine.chatRequests())
        .allSatisfy(request -> assertThat(request.header("x-turn-id")).contains("t1"));
    checkUsage(2, 2);
  }

  @ParameterizedTest
  @CsvSource({
    "sdk-anthropic.mjs stream, message.content.0.text",
    "sdk-openai.mjs stream chat, answer.choices.0.message.content",
    "sdk-openai.mjs stream responses, answer.output.0.content.0.text"
  })
  void aStreamIsOneStep(String words, String text) throws Exception {
    Outcome got = turn(words);
    assertThat(got.at("result." + text)).isEqualTo(SdkStage.SAID);
    assertThat(got.at("result.text")).isEqualTo(SdkStage.SAID);
    checkUsage(1, 0);
  }

  /** The SDK may try four times more; a failure that the proxy retries itself is still one step. */
  @ParameterizedTest
  @CsvSource({
    "sdk-anthropic.mjs streamWith 4, message.content.0.text",
    "sdk-openai.mjs streamWith chat 4, answer.choices.0.message.content",
    "sdk-openai.mjs streamWith responses 4, answer.output.0.content.0.text"
  })
  void whatGoesWrongOnceIsOneStepToo(String words, String text) throws Exception {
    Fault busy = Fault.Instead.error(503, "{\"error\":{\"message\":\"busy\"}}");
    engine.script(EngineScript.always(SdkStage.STEP.with(busy, 1)));
    Outcome got = turn(words);
    assertThat(got.at("result." + text)).isEqualTo(SdkStage.SAID);
    assertThat(got.number("asked")).isEqualTo(1);
    assertThat(engine.chatRequests()).hasSize(2);
    checkUsage(1, 0);
  }

  /** Runs a program as the agent of a turn. */
  private Outcome turn(String words) throws Exception {
    ServerClient.Answer answer =
        client.post(
            "/v1/sessions/" + session() + "/messages",
            Map.of("turn_id", "t1", "messages", List.of(Map.of("role", "user", "content", words))));
    assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    Outcome outcome = new Outcome(Json.object(answer.text()));
    return new Outcome(Json.object(String.valueOf(outcome.at("outputs.0.content"))));
  }

  private void checkUsage(int steps, int toolCalls) throws InterruptedException {
    ServerClient.Answer turn = client.get("/v1/sessions/" + session() + "/turns/t1");
    assertThat(turn.field("status")).as(turn.text()).isEqualTo("committed");
    EngineUsage told = engine.usageReported();
    assertThat(told.completionTokens()).isPositive();
    assertThat(turn.body().get("usage"))
        .as(turn.text())
        .extracting("steps", "tool_calls", "input_tokens", "output_tokens")
        .containsExactly(
            steps, toolCalls, (int) told.promptTokens(), (int) told.completionTokens());
  }

  /** The prompt is the command line of the program, and its output the answer. */
  private static Path agent() throws IOException {
    Path program = root.resolve("agent.sh");
    Files.writeString(program, SdkProgram.asAgent());
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    return program;
  }
}
