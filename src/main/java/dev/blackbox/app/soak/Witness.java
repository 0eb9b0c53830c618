package dev.blackbox.app.soak;

import dev.blackbox.app.ServerClient.Answer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What clients were told about turns, and whether it still holds. Every answer about a turn goes
 * through here. Thread-safe.
 */
final class Witness {

  /** How an answer to a submission is to be taken. */
  enum Sense {
    /** The turn's own end: an answer, or its error. */
    SETTLED,
    /** It is recorded, and its end is to come. */
    ACCEPTED,
    /** Not now. */
    LATER,
    /** Not in this session. */
    REFUSED
  }

  /** Codes with which a turn itself ends; all others say why a request was not taken. */
  private static final Set<String> ENDS =
      Set.of(
          "aborted",
          "backend_error",
          "backend_timeout",
          "cancelled",
          "context_overflow",
          "max_steps_exceeded",
          "server_restarted",
          "server_shutdown");

  private final SoakLog log;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Told> byId = new HashMap<>();
  private final List<Turn> settled = new ArrayList<>();
  private int comparisons;

  /** What was told about one turn. */
  private static final class Told {
    private final Turn turn;
    private @Nullable String answer;
    private @Nullable String view;
    private String end = "";

    Told(Turn turn) {
      this.turn = turn;
    }
  }

  /**
   * What was known about a turn when a question about it was sent. Answers may overtake each other,
   * so an answer is held against this, and not against what is known when it comes.
   */
  record Before(boolean known, boolean settled) {}

  Witness(SoakLog log) {
    this.log = log;
  }

  /** To be asked right before a question is sent. */
  Before before(Turn turn) {
    lock.lock();
    try {
      Told told = byId.get(turn.id());
      return new Before(told != null, told != null && (told.view != null || told.answer != null));
    } finally {
      lock.unlock();
    }
  }

  /** An answer to a submission. */
  Sense submitted(String who, Turn turn, Before before, Answer answer) {
    log.say(who, "submit " + turn + " -> " + brief(answer));
    return switch (answer.status()) {
      case 200 -> ended(who, turn, before, answer, "committed");
      case 202 -> accepted(who, turn, before, answer);
      case 400, 404, 500 -> {
        log.broken(who, "submission of " + turn + " was answered with " + answer.text());
        yield Sense.REFUSED;
      }
      case 503 -> Sense.LATER;
      default ->
          ENDS.contains(answer.field("error"))
              ? ended(who, turn, before, answer, answer.field("error"))
              : refused(who, turn, before, answer);
    };
  }

  private Sense ended(String who, Turn turn, Before before, Answer answer, String end) {
    lock.lock();
    try {
      Told told = byId.computeIfAbsent(turn.id(), _ -> new Told(turn));
      if (before.known() && answer.field("idempotent_replay").equals("false")) {
        log.broken(who, turn + " was acknowledged before, and is taken for a new one (P2, P3)");
      }
      if (told.end.isEmpty()) {
        told.end = end;
        settled.add(turn);
      }
      told.answer = compared(who, turn, "answer", told.answer, Turn.lasting(answer));
      return Sense.SETTLED;
    } finally {
      lock.unlock();
    }
  }

  private Sense accepted(String who, Turn turn, Before before, Answer answer) {
    lock.lock();
    try {
      byId.putIfAbsent(turn.id(), new Told(turn));
      if (before.known() && answer.field("idempotent_replay").equals("false")) {
        log.broken(who, turn + " was accepted before, and is taken for a new one (P2)");
      }
      return Sense.ACCEPTED;
    } finally {
      lock.unlock();
    }
  }

  private Sense refused(String who, Turn turn, Before before, Answer answer) {
    if (before.known()) {
      log.broken(who, turn + " was acknowledged, and is refused now: " + answer.text());
    }
    return answer.text().contains("Another turn is active") ? Sense.LATER : Sense.REFUSED;
  }

  /** A turn, as it is read. True if it has settled. */
  boolean viewed(String who, Turn turn, Before before, Answer answer) {
    log.say(who, "read " + turn + " -> " + brief(answer) + " " + answer.field("status"));
    if (answer.status() == 404 && before.known()) {
      log.broken(who, turn + " was acknowledged, and is missing (P6)");
    }
    if (answer.status() == 500) {
      log.broken(who, "reading " + turn + " was answered with " + answer.text());
    }
    if (answer.status() != 200) {
      return false;
    }
    String status = answer.field("status");
    if (status.equals("queued") || status.equals("inflight")) {
      if (before.settled()) {
        log.broken(who, turn + " was settled, and is " + status + " now (P4)");
      }
      return false;
    }
    lock.lock();
    try {
      Told told = byId.computeIfAbsent(turn.id(), _ -> new Told(turn));
      // The session's state may change after the turn; everything else may not.
      String lasting = Turn.lasting(answer).replaceFirst("\"state\":\"[a-z]*\"", "");
      told.view = compared(who, turn, "record", told.view, lasting);
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Called with the lock held. */
  private String compared(String who, Turn turn, String what, @Nullable String before, String now) {
    if (before == null) {
      return now;
    }
    comparisons++;
    if (!before.equals(now)) {
      log.broken(
          who,
          "the " + what + " of " + turn + " was\n" + before + "\nand is now\n" + now + " (P3)");
    }
    return before;
  }

  /** One whose end was told. */
  Optional<Turn> anySettled(Random random) {
    lock.lock();
    try {
      return settled.isEmpty()
          ? Optional.empty()
          : Optional.of(settled.get(random.nextInt(settled.size())));
    } finally {
      lock.unlock();
    }
  }

  /** All that were acknowledged. */
  Collection<Turn> acknowledged() {
    lock.lock();
    try {
      return byId.values().stream().map(told -> told.turn).toList();
    } finally {
      lock.unlock();
    }
  }

  /** Holds what was told against the agent's own record. */
  void holdAgainst(Map<String, List<String>> runs) {
    runs.forEach(
        (turn, names) -> {
          if (names.size() > 1) {
            log.broken("runs", turn + " was run " + names.size() + " times: " + names + " (P2)");
          }
        });
    lock.lock();
    try {
      for (Told told : byId.values()) {
        List<String> names = runs.getOrDefault(told.turn.id(), List.of());
        if (told.end.equals("committed")
            && (names.isEmpty() || !String.valueOf(told.answer).contains(names.getFirst()))) {
          log.broken(
              "runs",
              told.turn
                  + " was answered with "
                  + told.answer
                  + ", and the agent's runs are "
                  + names);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** How many turns ended how. */
  Map<String, Integer> ends() {
    lock.lock();
    try {
      Map<String, Integer> ends = new TreeMap<>();
      for (Told told : byId.values()) {
        ends.merge(told.end.isEmpty() ? "accepted" : told.end, 1, Integer::sum);
      }
      return ends;
    } finally {
      lock.unlock();
    }
  }

  /** How often an answer or record was compared with the one before. */
  int comparisons() {
    lock.lock();
    try {
      return comparisons;
    } finally {
      lock.unlock();
    }
  }

  static String brief(Answer answer) {
    return answer.status()
        + (answer.body().containsKey("error") && answer.body().get("error") != null
            ? " " + answer.field("error") + ": " + answer.field("message")
            : "");
  }
}
