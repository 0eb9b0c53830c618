package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A sink that remembers all it is told. */
final class RecordingSink implements CallSink {

  private final List<CallStarted> started = new CopyOnWriteArrayList<>();
  private final List<CallEnded> ended = new CopyOnWriteArrayList<>();
  private final List<CallRefused> refused = new CopyOnWriteArrayList<>();

  @Override
  public void started(CallStarted call) {
    started.add(call);
  }

  @Override
  public void ended(CallEnded call) {
    ended.add(call);
  }

  @Override
  public void refused(CallRefused call) {
    refused.add(call);
  }

  List<CallStarted> started() {
    return started;
  }

  List<CallRefused> refused() {
    return refused;
  }

  List<CallEnded> ended() {
    return ended;
  }

  /** The only call's end, once it is there; and every started call ended exactly once. */
  CallEnded onlyEnd() {
    await().atMost(Duration.ofSeconds(10)).until(() -> !ended.isEmpty());
    assertThat(ended).hasSize(1);
    assertThat(started).hasSize(1);
    assertThat(ended.getFirst().callId()).isEqualTo(started.getFirst().callId());
    return ended.getFirst();
  }
}
