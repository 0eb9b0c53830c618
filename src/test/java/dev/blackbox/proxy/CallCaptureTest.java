package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.app.engine.EngineScript;
import dev.blackbox.app.engine.Fault;
import dev.blackbox.app.engine.Step;
import dev.blackbox.wire.Fingerprints;
import dev.blackbox.wire.Json;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Bodies of model calls are kept as they went, privately, within bounds, and never in the way. */
class CallCaptureTest {

  private static final Step STEP = Step.text("a longer answer in several events");

  @TempDir private Path root;

  private Path directory() {
    return root.resolve("state/captures");
  }

  private CaptureConfig config(CaptureConfig.Mode mode) {
    return new CaptureConfig(mode, directory(), 1 << 20, 1 << 16, 1 << 20, 0);
  }

  private static ProxyRig rig(CaptureConfig config, Step step) {
    return new ProxyRig(ProxyRig.CONFIG.withCapture(config), EngineScript.always(step));
  }

  private List<Map<String, Object>> heads() throws IOException {
    return CapturedCalls.heads(directory()).stream().map(Json::object).toList();
  }

  private static int number(Map<String, Object> head, String name) {
    return Integer.parseInt(String.valueOf(head.get(name)));
  }

  private byte[] kept(String callId) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    CapturedCalls.copy(directory(), callId, out);
    return out.toByteArray();
  }

  /** The parts of a file: request, and answer. */
  private List<byte[]> bodies(String callId) throws IOException {
    byte[] all = kept(callId);
    int line = 0;
    while (all[line] != '\n') {
      line++;
    }
    Map<String, Object> head = Json.object(new String(all, 0, line, StandardCharsets.UTF_8));
    int request = number(head, "request_bytes");
    int answer = number(head, "response_bytes");
    assertThat(all).hasSize(line + 1 + request + 1 + answer);
    return List.of(
        Arrays.copyOfRange(all, line + 1, line + 1 + request),
        Arrays.copyOfRange(all, line + 2 + request, all.length));
  }

  @ParameterizedTest
  @EnumSource
  void bothBodiesAreKeptAsTheEngineHadThem(Tongue tongue) throws Exception {
    byte[] asked;
    CallSink.CallEnded record;
    try (ProxyRig rig = rig(config(CaptureConfig.Mode.ALL), STEP);
        TurnScope turn = rig.openTurn("t1")) {
      assertThat(tongue.ask(rig, tongue.body(true)).status()).isEqualTo(200);
      assertThat(turn.drain(Duration.ofSeconds(5))).isTrue();
      asked = rig.engine.chatRequests().getFirst().body();
      record = rig.sink.onlyEnd();
    }
    assertThat(heads()).singleElement().satisfies(head -> assertHead(head, record));
    List<byte[]> bodies = bodies(record.callId());
    assertThat(bodies.get(0)).isEqualTo(asked);
    assertThat(Fingerprints.sha256Hex(bodies.get(1)))
        .isEqualTo(record.responseHash().orElseThrow());
    assertThat(new String(bodies.get(1), StandardCharsets.UTF_8)).endsWith("data: [DONE]\n\n");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(directory())))
        .isEqualTo("rwx------");
    Path file = directory().resolve(record.callId() + ".call.gz");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    assertThat(CapturedCalls.dropped(directory())).isZero();
  }

  private static void assertHead(Map<String, Object> head, CallSink.CallEnded record) {
    assertThat(head)
        .containsEntry("format", "blackbox-call-bodies/1")
        .containsEntry("call_id", record.callId())
        .containsEntry("turn_id", "t1")
        .containsEntry("verdict", "ok")
        .containsEntry("status", 200)
        .containsEntry("request_hash", record.requestHash().orElseThrow());
  }

  @Test
  void ofErrorsOnlyFailedCallsAreKept() throws Exception {
    try (ProxyRig rig = rig(config(CaptureConfig.Mode.ERRORS), STEP);
        TurnScope _ = rig.openTurn("t1")) {
      rig.chat(ProxyRig.plainBody("good"));
      rig.engine.script(
          EngineScript.always(STEP.with(Fault.Instead.error(400, "{\"error\":\"no\"}"))));
      rig.chat(ProxyRig.plainBody("bad"));
    }
    assertThat(heads()).hasSize(1);
    List<byte[]> bodies = bodies(String.valueOf(heads().getFirst().get("call_id")));
    assertThat(new String(bodies.get(0), StandardCharsets.UTF_8)).contains("\"bad\"");
    assertThat(new String(bodies.get(1), StandardCharsets.UTF_8)).isEqualTo("{\"error\":\"no\"}");
  }

  @Test
  void offKeepsNothing() throws Exception {
    try (ProxyRig rig = rig(config(CaptureConfig.Mode.OFF), STEP);
        TurnScope _ = rig.openTurn("t1")) {
      rig.chat(ProxyRig.plainBody("a"));
    }
    assertThat(directory()).doesNotExist();
    assertThat(heads()).isEmpty();
  }

  @Test
  void theKeyOfTheAgentIsTakenOut() throws Exception {
    Step telling = Step.text("your key is " + ProxyRig.KEY + ".").withChunkCharacters(999);
    try (ProxyRig rig = rig(config(CaptureConfig.Mode.ALL), telling);
        TurnScope _ = rig.openTurn("t1")) {
      assertThat(rig.chat(ProxyRig.streamBody("KEY=" + ProxyRig.KEY)).body())
          .contains(ProxyRig.KEY);
    }
    String all =
        new String(kept(String.valueOf(heads().getFirst().get("call_id"))), StandardCharsets.UTF_8);
    assertThat(all)
        .doesNotContain(ProxyRig.KEY)
        .contains("KEY=[redacted]\"", "your key is [redacted].");
  }

  @Test
  void whatIsTooLongIsCutAndAKeyOnTheCutTakenOut() throws Exception {
    CaptureConfig small =
        new CaptureConfig(CaptureConfig.Mode.ALL, directory(), 1 << 20, 2_000, 1 << 20, 0);
    String long1 = "x".repeat(1_930) + ProxyRig.KEY + "y".repeat(3_000);
    try (ProxyRig rig = rig(small, STEP);
        TurnScope _ = rig.openTurn("t1")) {
      assertThat(rig.chat(ProxyRig.plainBody(long1)).status()).isEqualTo(200);
    }
    Map<String, Object> head = heads().getFirst();
    assertThat(number(head, "request_bytes_sent")).isGreaterThan(4_900);
    byte[] request = bodies(String.valueOf(head.get("call_id"))).getFirst();
    assertThat(request.length).isLessThanOrEqualTo(2_000);
    assertThat(new String(request, StandardCharsets.UTF_8))
        .endsWith("x[redacted]")
        .doesNotContain("bbs-");
  }

  @Test
  void theOldestGoWhenTheDiskBudgetIsUsedUp() throws Exception {
    CaptureConfig small =
        new CaptureConfig(CaptureConfig.Mode.ALL, directory(), 6 * 4096, 1 << 16, 1 << 20, 0);
    List<String> ids;
    try (ProxyRig rig = rig(small, STEP);
        TurnScope _ = rig.openTurn("t1")) {
      for (int call = 0; call < 5; call++) {
        rig.chat(ProxyRig.plainBody("call " + call));
      }
      ids = rig.sink.started().stream().map(CallSink.CallStarted::callId).toList();
    }
    assertThat(heads())
        .extracting(head -> head.get("call_id"))
        .containsExactlyInAnyOrderElementsOf(List.<Object>copyOf(ids.subList(2, 5)));
  }

  @Test
  void withoutMemoryBodiesAreDroppedAndCountedAndTheCallGoesWell() throws Exception {
    CaptureConfig tight =
        new CaptureConfig(CaptureConfig.Mode.ALL, directory(), 1 << 20, 1 << 16, 10, 0);
    for (int boot = 1; boot <= 2; boot++) {
      try (ProxyRig rig = rig(tight, STEP);
          TurnScope _ = rig.openTurn("t1")) {
        assertThat(rig.chat(ProxyRig.streamBody("a")).ended()).isTrue();
        assertThat(rig.sink.onlyEnd().verdict()).isEqualTo("ok");
      }
      assertThat(heads()).isEmpty();
      assertThat(CapturedCalls.dropped(directory())).isEqualTo(boot);
    }
  }

  @Test
  void whatACrashLeftHalfWrittenIsNoticed() throws Exception {
    try (ProxyRig rig = rig(config(CaptureConfig.Mode.ALL), STEP);
        TurnScope _ = rig.openTurn("t1")) {
      rig.chat(ProxyRig.plainBody("a"));
    }
    String id = String.valueOf(heads().getFirst().get("call_id"));
    Path file = directory().resolve(id + ".call.gz");
    byte[] whole = Files.readAllBytes(file);
    Files.write(file, Arrays.copyOf(whole, whole.length - 9));
    Path part = Files.writeString(directory().resolve("x.part"), "half");
    assertThatThrownBy(() -> kept(id)).isInstanceOf(IOException.class);
    try (ProxyRig _ = rig(config(CaptureConfig.Mode.ALL), STEP)) {
      assertThat(part).doesNotExist();
      assertThat(file).exists();
    }
    assertThatThrownBy(() -> kept("../../../etc/passwd"))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("no call id");
  }
}
