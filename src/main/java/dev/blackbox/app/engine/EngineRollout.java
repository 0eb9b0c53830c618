package dev.blackbox.app.engine;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.MalformedJsonException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Pausing and resuming, answered as the recording proxy answers. */
final class EngineRollout {

  private final ReentrantLock lock = new ReentrantLock();

  @GuardedBy("lock")
  private boolean paused;

  @GuardedBy("lock")
  private int epoch;

  @GuardedBy("lock")
  private @Nullable String version;

  @GuardedBy("lock")
  private Fault.@Nullable Instead fixedAnswer;

  boolean paused() {
    lock.lock();
    try {
      return paused;
    } finally {
      lock.unlock();
    }
  }

  void answerWith(Fault.@Nullable Instead answer) {
    lock.lock();
    try {
      fixedAnswer = answer;
    } finally {
      lock.unlock();
    }
  }

  Fault.Instead pause(byte[] body) {
    Map<?, ?> request = object(body);
    lock.lock();
    try {
      if (fixedAnswer != null) {
        return fixedAnswer;
      }
      Map<String, @Nullable Object> answer = new LinkedHashMap<>();
      answer.put("status", paused ? "already_paused" : "paused");
      answer.put("reason", request.get("reason"));
      answer.put("mode", request.get("mode"));
      answer.put("quiesced", true);
      answer.put("preempted", false);
      answer.put("fallback", null);
      answer.put("active_sglang_generations", 0);
      answer.put("suspended_generations", 0);
      answer.put("version", version);
      answer.put("abort_attempted_request_ids", List.of());
      paused = true;
      return Fault.Instead.error(200, Json.write(answer));
    } finally {
      lock.unlock();
    }
  }

  Fault.Instead resume(byte[] body) {
    Map<?, ?> request = object(body);
    lock.lock();
    try {
      if (fixedAnswer != null) {
        return fixedAnswer;
      }
      if (request.get("version") != null) {
        version = String.valueOf(request.get("version"));
      }
      epoch += paused ? 1 : 0;
      Map<String, @Nullable Object> answer = new LinkedHashMap<>();
      answer.put("status", paused ? "resumed" : "already_running");
      answer.put("reason", request.get("reason"));
      answer.put("version", version);
      answer.put("rollout_epoch", epoch);
      answer.put("shutting_down", false);
      answer.put("active_sglang_generations", 0);
      answer.put("suspended_generations", 0);
      paused = false;
      return Fault.Instead.error(200, Json.write(answer));
    } finally {
      lock.unlock();
    }
  }

  private static Map<?, ?> object(byte[] body) {
    try {
      return Json.parse(body) instanceof Map<?, ?> object ? object : Map.of();
    } catch (MalformedJsonException malformed) {
      return Map.of();
    }
  }
}
