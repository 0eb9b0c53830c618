package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.Part;
import dev.blackbox.app.engine.Step;
import dev.blackbox.kernel.Secret;
import dev.blackbox.wire.Json;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What kept bodies never have in them and never take, and what is known of those that are gone. */
class CaptureLimitsTest {

  private static final Step STEP = Step.text("an answer");
  private static final Instant NOON = Instant.parse("2026-12-01T12:00:00Z");
  private static final String ID = "0b0cde5c-6ea0-4b4c-9a2c-%012d";

  @TempDir private Path root;

  private Path directory() {
    return root.resolve("captures");
  }

  private CaptureConfig config(long diskBytes, long memoryBytes, long freeBytes) {
    return new CaptureConfig(
        CaptureConfig.Mode.ALL, directory(), diskBytes, 1 << 20, memoryBytes, freeBytes);
  }

  private static ProxyRig rig(CaptureConfig config, Step step) {
    return new ProxyRig(ProxyRig.CONFIG.withCapture(config), EngineScript.always(step));
  }

  private String kept(String callId) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    assertThat(CapturedCalls.copy(directory(), callId, out)).isTrue();
    return out.toString(StandardCharsets.UTF_8);
  }

  private long bytesOnDisk() throws IOException {
    long blocks = 0;
    try (Stream<Path> files = Files.list(directory())) {
      for (Path file : files.toList()) {
        blocks += (file.toFile().length() + 4095) / 4096;
      }
    }
    return blocks * 4096;
  }

  @ParameterizedTest
  @EnumSource
  void aSecretThatTheModelSaysInPiecesReachesTheAgentAndNotTheDisk(Tongue tongue) throws Exception {
    String json = Json.write(List.of("x", ProxyRig.KEY));
    Step telling =
        Step.of(
            new Part.Reasoning("think " + ProxyRig.KEY),
            new Part.Text("say " + ProxyRig.KEY + " twice"),
            new Part.ToolCall("run", json));
    for (int characters = 1; characters <= ProxyRig.KEY.length() + 1; characters += 3) {
      String id;
      try (ProxyRig rig =
              rig(config(1 << 20, 1 << 20, 0), telling.withChunkCharacters(characters));
          TurnScope turn = rig.openTurn("t1")) {
        assertThat(tongue.ask(rig, tongue.body(true)).status()).isEqualTo(200);
        assertThat(turn.drain(Duration.ofSeconds(5))).isTrue();
        id = rig.sink.onlyEnd().callId();
      }
      String all = kept(id);
      assertThat(joined(all, "content")).as("pieces of %d", characters).isEqualTo("say  twice");
      assertThat(joined(all, "reasoning_content")).isEqualTo("think ");
      assertThat(joined(all, "arguments")).isEqualTo("[\"x\",\"\"]");
      assertThat(all).contains("[redacted]").doesNotContain(ProxyRig.KEY);
    }
  }

  /** The pieces of a member of the answer, without what was put in the place of secrets. */
  private static String joined(String kept, String member) throws Exception {
    String answer = kept.substring(kept.indexOf("data: "));
    StringBuilder joined = new StringBuilder();
    Matcher pieces =
        Pattern.compile("\"" + member + "\":(\"(?:[^\"\\\\]|\\\\.)*\")").matcher(answer);
    while (pieces.find()) {
      joined.append(Json.parse(pieces.group(1)));
    }
    return joined.toString().replace("[redacted]", "");
  }

  @Test
  void ofEachCallTheRecordSaysWhatWasDecided() throws Exception {
    CaptureConfig errors =
        new CaptureConfig(CaptureConfig.Mode.ERRORS, directory(), 1 << 20, 1 << 16, 1 << 20, 0);
    assertThat(decided(CaptureConfig.off(directory()))).isEqualTo(CaptureDecision.OFF);
    assertThat(directory()).doesNotExist();
    assertThat(decided(errors)).isEqualTo(CaptureDecision.NOT_WANTED);
    assertThat(decided(config(1 << 20, 1 << 20, 0))).isEqualTo(CaptureDecision.WANTED);
    assertThat(decided(config(1 << 20, 10, 0))).isEqualTo(CaptureDecision.DROPPED);
    for (CaptureDecision each : CaptureDecision.values()) {
      assertThat(CaptureDecision.ofWireName(each.wireName())).isEqualTo(each);
    }
  }

  private static CaptureDecision decided(CaptureConfig config) throws IOException {
    try (ProxyRig rig = rig(config, STEP);
        TurnScope _ = rig.openTurn("t1")) {
      rig.chat(ProxyRig.plainBody("a"));
      return rig.sink.onlyEnd().capture();
    }
  }

  @ParameterizedTest
  @CsvSource({"1048576, 10, 0, no memory", "1048576, 1048576, 4611686018427387904, the disk has"})
  void whatCouldNotBeKeptIsListedWithItsReason(
      long diskBytes, long memoryBytes, long freeBytes, String why) throws Exception {
    String id;
    try (ProxyRig rig = rig(config(diskBytes, memoryBytes, freeBytes), STEP);
        TurnScope _ = rig.openTurn("t1")) {
      assertThat(rig.chat(ProxyRig.plainBody("a")).status()).isEqualTo(200);
      id = rig.sink.onlyEnd().callId();
    }
    assertThat(CapturedCalls.heads(directory())).isEmpty();
    assertThat(CapturedCalls.copy(directory(), id, new ByteArrayOutputStream())).isFalse();
    assertThat(CapturedCalls.tale(directory(), id).orElseThrow())
        .startsWith("could not be kept at 2")
        .contains(why);
    assertThat(CapturedCalls.dropped(directory())).isEqualTo(1);
  }

  @Test
  void theDirectoryNeverTakesMoreThanItsLimitAndWhatWentIsListed() throws Exception {
    long limit = 128 << 10;
    byte[] noise = new byte[9_000];
    new Random(1).nextBytes(noise);
    String text = Base64.getEncoder().encodeToString(noise);
    List<String> ids;
    try (ProxyRig rig = rig(config(limit, 8 << 20, 0), STEP);
        TurnScope _ = rig.openTurn("t1")) {
      for (int call = 1; call <= 40; call++) {
        rig.chat(ProxyRig.plainBody(text));
        assertThat(bytesOnDisk()).isLessThanOrEqualTo(limit);
      }
      ids = rig.sink.started().stream().map(CallSink.CallStarted::callId).toList();
    }
    assertThat(bytesOnDisk()).isBetween(limit * 3 / 4, limit);
    int there = 0;
    for (String id : ids) {
      boolean kept = CapturedCalls.copy(directory(), id, new ByteArrayOutputStream());
      there += kept ? 1 : 0;
      assertThat(CapturedCalls.tale(directory(), id).isPresent()).isEqualTo(!kept);
    }
    assertThat(there).isBetween(5, 12);
    assertThat(CapturedCalls.dropped(directory())).isZero();

    // A smaller limit holds from the next start on.
    try (ProxyRig _ = rig(config(64 << 10, 8 << 20, 0), STEP)) {
      assertThat(bytesOnDisk()).isLessThanOrEqualTo(64 << 10);
    }
    assertThat(CapturedCalls.tale(directory(), ids.getLast())).isEmpty();
  }

  @Test
  void aBodyThatIsLargerThanTheLimitIsDroppedAndTheOthersStay() throws Exception {
    byte[] noise = new byte[200_000];
    new Random(1).nextBytes(noise);
    String id;
    try (ProxyRig rig = rig(config(64 << 10, 8 << 20, 0), STEP);
        TurnScope _ = rig.openTurn("t1")) {
      rig.chat(ProxyRig.plainBody("small"));
      rig.chat(ProxyRig.plainBody(Base64.getEncoder().encodeToString(noise)));
      id = rig.sink.started().getLast().callId();
    }
    assertThat(CapturedCalls.heads(directory())).hasSize(1);
    assertThat(CapturedCalls.tale(directory(), id).orElseThrow()).contains("longer than all");
  }

  @Test
  void allThatWaitsIsWrittenAtTheEnd() throws Exception {
    try (ProxyRig rig = rig(config(8 << 20, 64 << 20, 0), STEP);
        TurnScope _ = rig.openTurn("t1")) {
      for (int call = 1; call <= 60; call++) {
        rig.chat(ProxyRig.plainBody("text ".repeat(10_000)));
      }
    }
    assertThat(CapturedCalls.heads(directory())).hasSize(60);
  }

  @Test
  void aLostDirectoryAndADamagedCountDoNotStopIt() throws Exception {
    try (ProxyRig rig = rig(config(1 << 20, 1 << 20, 0), STEP);
        TurnScope _ = rig.openTurn("t1")) {
      rig.chat(ProxyRig.plainBody("first"));
      String first = rig.sink.onlyEnd().callId();
      await().until(() -> CapturedCalls.heads(directory()).size() == 1);
      Files.delete(directory().resolve(first + ".call.gz"));
      Files.delete(directory());
      rig.chat(ProxyRig.plainBody("second"));
      await().until(() -> CapturedCalls.heads(directory()).size() == 1);
    }
    Files.writeString(directory().resolve("dropped"), "");
    try (ProxyRig rig = rig(config(1 << 20, 10, 0), STEP);
        TurnScope _ = rig.openTurn("t1")) {
      rig.chat(ProxyRig.plainBody("third"));
    }
    assertThat(CapturedCalls.dropped(directory())).isEqualTo(1);
  }

  @Test
  void theListOfWhatIsGoneIsBoundedAndSurvivesATimeWithoutRoom() throws Exception {
    Path directory = directory();
    GoneCalls gone = new GoneCalls(directory, 4096);
    gone.deleted(ID.formatted(1), NOON);
    assertThat(GoneCalls.tale(directory, ID.formatted(1))).isEmpty();
    Files.createDirectory(directory);
    Files.writeString(directory.resolve("gone"), "2026-12-01T11:00:00Z dele");
    gone.lost(ID.formatted(2), NOON, "two\nlines");
    assertThat(GoneCalls.tale(directory, ID.formatted(1)))
        .hasValue("were kept, and deleted at 2026-12-01T12:00:00Z to make room");
    assertThat(GoneCalls.tale(directory, ID.formatted(2)))
        .hasValue("could not be kept at 2026-12-01T12:00:00Z: two lines");
    for (int call = 3; call <= 500; call++) {
      gone.deleted(ID.formatted(call), NOON);
      assertThat(bytesOnDisk()).isLessThanOrEqualTo(2 * 4096);
    }
    assertThat(GoneCalls.tale(directory, ID.formatted(3))).isEmpty();
    for (int call = 450; call <= 500; call++) {
      assertThat(GoneCalls.tale(directory, ID.formatted(call))).isPresent();
    }
  }

  @Test
  void secretsOfTheServerAndOfTheBindingAreKnownAndWordsAreNot() {
    KnownSecrets known = new KnownSecrets();
    known.add(List.of(Secret.of("of-the-server"), Secret.of("none"), Secret.of("")));
    ProxyBinding plain =
        ProxyRig.binding(URI.create("http://user:pass-word-1@127.0.0.1:1"), ProxyOptions.DEFAULTS);
    known.bound(
        new ProxyBinding(
            plain.sessionId(),
            plain.instanceId(),
            plain.sandboxId(),
            plain.upstreamOrigin(),
            plain.apiPath(),
            plain.agentKey(),
            plain.options(),
            List.of(Secret.of("of-the-options"))));
    for (int turn = 0; turn < 1_000; turn++) {
      known.opened(Secret.of("of-turn-number-" + turn));
    }
    String body =
        "none of-the-server of-the-options pass-word-1 of-turn-number-999 " + ProxyRig.KEY + ".";
    assertThat(
            new String(
                Redaction.of(body.getBytes(StandardCharsets.UTF_8), known.trie()).bytes(),
                StandardCharsets.UTF_8))
        .isEqualTo("none" + " [redacted]".repeat(5) + ".");
  }
}
