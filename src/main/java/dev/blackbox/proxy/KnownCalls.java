package dev.blackbox.proxy;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The calls of one turn that their agent may send again, by what they ask. Bounded by bytes: what
 * ended longest ago is forgotten first. Thread-safe.
 */
final class KnownCalls {

  /** What a call takes beside its tape, roughly: its sum, its ids, its objects. */
  private static final int CALL_BYTES = 512;

  private final ReentrantLock lock = new ReentrantLock();
  private final ProxyConfig.AgentRetries bounds;

  @GuardedBy("lock")
  private final Map<String, KnownCall> byQuestion = new LinkedHashMap<>();

  /** Of all tapes. */
  @GuardedBy("lock")
  private long tapeBytes;

  KnownCalls(ProxyConfig.AgentRetries bounds) {
    this.bounds = bounds;
  }

  /**
   * Whether a call that was sent again so often may be sent once more without a step of its own.
   */
  boolean mayBeSentAgain(KnownCall call) {
    return call.retries() < bounds.max();
  }

  /** The last call that asked this. */
  Optional<KnownCall> find(Question question) {
    lock.lock();
    try {
      return Optional.ofNullable(byQuestion.get(question.sum()));
    } finally {
      lock.unlock();
    }
  }

  /** Another call that asks this, from now on the last one. */
  KnownCall add(Question question, int step, int retries, Visit visit) {
    Tape tape = new Tape(lock, this::reserve, question.hasSdkHeader() && bounds.bytesMax() > 0);
    KnownCall call = new KnownCall(UUID.randomUUID().toString(), step, retries, visit, tape);
    lock.lock();
    try {
      KnownCall before = byQuestion.remove(question.sum());
      if (before != null) {
        before.tape().forget();
      }
      byQuestion.put(question.sum(), call);
      boolean _ = makeRoom(tape, 0);
    } finally {
      lock.unlock();
    }
    return call;
  }

  /**
   * Takes or gives back bytes for a tape; the lock is held.
   *
   * @return false if they are not to be had
   */
  private boolean reserve(Tape tape, int more) {
    lock.lock();
    try {
      if (more > 0 && !makeRoom(tape, more)) {
        return false;
      }
      tapeBytes += more;
      return true;
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private boolean makeRoom(Tape keep, int more) {
    Iterator<KnownCall> eldestFirst = byQuestion.values().iterator();
    while (isOver(more) && eldestFirst.hasNext()) {
      Tape tape = eldestFirst.next().tape();
      if (tape != keep && tape.verdict().isPresent()) {
        eldestFirst.remove();
        tape.forget();
      }
    }
    return !isOver(more);
  }

  @GuardedBy("lock")
  private boolean isOver(int more) {
    return tapeBytes + more + (long) byQuestion.size() * CALL_BYTES > bounds.bytesMax();
  }
}
