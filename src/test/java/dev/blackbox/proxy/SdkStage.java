package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.Fault;
import dev.blackbox.app.engine.Part;
import dev.blackbox.app.engine.Step;
import dev.blackbox.proxy.SdkProgram.Outcome;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalInt;

/** What the tests of the SDKs share: a proxy with an open turn, and what goes wrong behind it. */
final class SdkStage implements AutoCloseable {

  static final String SAID = "a longer answer in several events";
  static final Step STEP = Step.text(SAID);
  static final Duration LONG = Duration.ofSeconds(60);

  /** The promise is one second; the rest is for a busy machine. */
  private static final Duration PROMPTLY = Duration.ofMillis(1500);

  final ProxyRig rig =
      new ProxyRig(
          new ProxyConfig(0, 1 << 20, 1 << 20, 16, LONG, LONG, LONG), EngineScript.always(STEP));
  private final String program;
  TurnScope turn = rig.openTurn("t1");

  /**
   * @param program one of the resources of this package
   */
  SdkStage(String program) {
    this.program = program;
  }

  /** Runs one scenario of the program to its end. */
  Outcome run(String... arguments) throws IOException {
    return SdkProgram.run(rig, program, arguments);
  }

  /** The program is to be closed. */
  SdkProgram start(String... arguments) throws IOException {
    return SdkProgram.start(rig, program, arguments);
  }

  /** The model says these from now on. */
  void says(Step... steps) {
    rig.engine.script(EngineScript.always(steps));
  }

  /** The model calls the weather twice at once, and then answers. */
  void saysTwoCalls(Part... before) {
    List<Part> parts = new ArrayList<>(List.of(before));
    parts.add(new Part.ToolCall("weather", "{\"city\":\"Oslo\"}"));
    parts.add(new Part.ToolCall("weather", "{\"city\":\"Rome\"}"));
    says(Step.of(parts.toArray(Part[]::new)), STEP);
  }

  void breaksOff(String how) {
    says(
        switch (how) {
          case "cut" -> STEP.with(new Fault.CutAfterEvents(3, false));
          case "no finish reason" -> STEP.with(new Fault.NoFinishReason());
          case "bad tool" ->
              Step.of(new Part.Text(SAID), new Part.ToolCall("weather", "{\"city\": "));
          default -> STEP.with(Fault.InsertAfterEvents.errorFrame(3, "{\"message\":\"boom\"}"));
        });
  }

  /** Another turn, which may make so many calls. */
  void nextTurn(OptionalInt stepsMax) {
    rig.proxy.bind(
        rig.binding(
            new ProxyOptions(
                ProxyOptions.DEFAULTS.stickyHeaderName(), stepsMax, OptionalDouble.empty())));
    turn = rig.openTurn("t2");
  }

  /** Without a turn, and with its budget used up. */
  void checkRefusals(String... scenarioSuffix) throws IOException {
    turn.close();
    run(words("plainWith", scenarioSuffix)).threw("BadRequestError", 400);
    nextTurn(OptionalInt.of(1));
    run(words("plainWith", scenarioSuffix));
    Outcome beyond = run(words("streamWith", scenarioSuffix)).threw("RateLimitError", 429);
    assertThat(beyond.number("asked")).isEqualTo(1);
  }

  /** The SDK's own retry finds a proxy that was not bound at first. */
  Outcome retriedOnceBound(String... arguments) throws IOException {
    turn.close();
    rig.proxy.unbind();
    try (SdkProgram running = start(arguments)) {
      await().atMost(LONG).until(() -> !rig.sink.refused().isEmpty());
      nextTurn(OptionalInt.empty());
      Outcome got = running.outcome();
      assertThat(got.list("retryCounts").subList(0, 2)).isEqualTo(List.of("0", "1"));
      assertThat(turn.totals().steps()).isEqualTo(1);
      return got;
    }
  }

  /** The engine is closed at once when the program gives up. */
  void checkLetGo() {
    await().atMost(PROMPTLY).until(() -> rig.engine.disconnects() == 1);
    assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("agent_gone");
    assertThat(turn.verdict()).isEmpty();
  }

  private static String[] words(String first, String... more) {
    List<String> words = new ArrayList<>(List.of(first));
    words.addAll(List.of(more));
    return words.toArray(String[]::new);
  }

  @Override
  public void close() {
    turn.close();
    rig.close();
  }
}
