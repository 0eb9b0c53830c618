package dev.blackbox.app.soak;

import dev.blackbox.app.ServerClient;
import dev.blackbox.app.ServerClient.Answer;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The one binding that the server has at a time: registered, registered again, replaced. Its calls
 * are repeated until they are answered, as a controller would.
 */
final class Slot {

  private static final Duration TRY_AGAIN = Duration.ofMillis(50);

  private final ServerClient client;
  private final int enginePort;
  private final SoakLog log;
  private final ReentrantLock lock = new ReentrantLock();

  /** The newest turn that a client asks for. */
  final AtomicReference<@Nullable Turn> newest = new AtomicReference<>();

  private volatile String session = "s0";
  private int sessions;
  private String binding = "";

  Slot(ServerClient client, int enginePort, SoakLog log) {
    this.client = client;
    this.enginePort = enginePort;
    this.log = log;
  }

  /** The session that takes turns now. */
  String session() {
    return session;
  }

  /** Registers for the first time. */
  void open() throws InterruptedException {
    register();
  }

  /** The same registration again, which must change nothing. */
  void again() throws InterruptedException {
    lock.lock();
    try {
      register();
    } finally {
      lock.unlock();
    }
  }

  /** Aborts a session and registers the next one, unless somebody did so already. */
  void replace(String old) throws InterruptedException {
    lock.lock();
    try {
      if (session.equals(old) && !log.isBroken()) {
        Answer aborted = until(Set.of(200), "/v1/sessions/" + old + "/abort", Map.of());
        log.say("slot", "abort " + old + " -> " + Witness.brief(aborted));
        sessions++;
        binding = "";
        String next = "s" + sessions;
        register(next);
        session = next;
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Pauses, looks whether it stays so, and resumes. Nothing else happens to the binding meanwhile,
   * but kills.
   */
  void pauseAndResume(Duration pause) throws InterruptedException {
    lock.lock();
    try {
      Answer paused = once("/v1/rollout/pause", Map.of("reason", "soak"));
      log.say("slot", "pause -> " + Witness.brief(paused));
      Thread.sleep(pause);
      if (paused.status() == 200) {
        Answer state = client.get("/v1/rollout/pause_state");
        if (state.status() == 200 && !state.field("paused").equals("true")) {
          log.broken("slot", "it was paused, and says now: " + state.text());
        }
      }
    } catch (UncheckedIOException killed) {
      log.say("slot", "pause -> " + killed.getMessage());
    } finally {
      try {
        Answer resumed = until(Set.of(200), "/v1/rollout/resume", Map.of("reason", "soak"));
        log.say("slot", "resume -> " + Witness.brief(resumed));
      } finally {
        lock.unlock();
      }
    }
  }

  private void register() throws InterruptedException {
    register(session);
  }

  private void register(String name) throws InterruptedException {
    Answer answer =
        until(
            Set.of(200),
            "/v1/rollout/register",
            Map.of(
                "blackbox_type",
                "script",
                "router",
                "http://127.0.0.1:" + enginePort + "/v1",
                "bound_session_id",
                name,
                "bound_instance_id",
                "soak"));
    log.say("slot", "register " + name + " -> " + Witness.brief(answer));
    String told = answer.field("binding");
    if (!binding.isEmpty() && !told.equals(binding)) {
      log.broken("slot", "the same registration gave\n" + binding + "\nand gives now\n" + told);
    }
    binding = told;
  }

  private Answer once(String path, Map<String, ?> body) throws InterruptedException {
    return client.post(path, body);
  }

  /**
   * Repeats while the server is away or not ready; any other answer than the wanted is a breach.
   */
  private Answer until(Set<Integer> wanted, String path, Map<String, ?> body)
      throws InterruptedException {
    while (true) {
      try {
        Answer answer = once(path, body);
        if (wanted.contains(answer.status()) || log.isBroken()) {
          return answer;
        }
        log.say("slot", path + " -> " + Witness.brief(answer));
        if (answer.status() != 503) {
          log.broken("slot", path + " was answered with " + answer.text());
          return answer;
        }
      } catch (UncheckedIOException away) {
        if (log.isBroken()) {
          throw away;
        }
      }
      Thread.sleep(TRY_AGAIN);
    }
  }
}
