package dev.blackbox.control;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class PauseClockTest {

  @Test
  void standsStillWhilePausedAndGoesOnAfterwards() throws InterruptedException {
    PauseClock clock = new PauseClock();
    clock.pause();
    long atPause = clock.runningNanos();
    Thread.sleep(30);
    assertThat(clock.runningNanos()).isEqualTo(atPause);
    assertThat(clock.pausedTotal()).isGreaterThanOrEqualTo(Duration.ofMillis(30));
    clock.resume();
    assertThat(clock.runningNanos()).isGreaterThanOrEqualTo(atPause);
    assertThat(clock.pausedTotal()).isGreaterThanOrEqualTo(Duration.ofMillis(30));
  }

  @Test
  void aSecondPauseOrResumeChangesNothing() {
    PauseClock clock = new PauseClock();
    clock.resume();
    assertThat(clock.pausedTotal()).isZero();
    clock.pause();
    long atPause = clock.runningNanos();
    clock.pause();
    assertThat(clock.runningNanos()).isEqualTo(atPause);
  }

  @Test
  void theGateOpensForThoseWhoWait() throws InterruptedException {
    PauseClock clock = new PauseClock();
    clock.pause();
    assertThat(clock.awaitRunning(Duration.ofMillis(20))).isFalse();
    CountDownLatch passed = new CountDownLatch(1);
    AtomicBoolean running = new AtomicBoolean();
    Thread waiter =
        Thread.ofVirtual()
            .start(
                () -> {
                  try {
                    running.set(clock.awaitRunning(Duration.ofSeconds(20)));
                    passed.countDown();
                  } catch (InterruptedException _) {
                    Thread.currentThread().interrupt();
                  }
                });
    clock.resume();
    assertThat(passed.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(running).isTrue();
    waiter.join();
  }
}
