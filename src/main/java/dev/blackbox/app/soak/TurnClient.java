package dev.blackbox.app.soak;

import dev.blackbox.app.ServerClient;
import dev.blackbox.app.ServerClient.Answer;
import dev.blackbox.app.soak.Witness.Before;
import dev.blackbox.app.soak.Witness.Sense;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Random;

/**
 * Asks for one turn after the other, and repeats each with the same id until it knows its end, as
 * controllers do: synchronously, or asynchronously with polls; some requests twice at once, some
 * given up early. Now and then it asks for a settled turn again, or abuses its id.
 */
final class TurnClient {

  /** A turn that is not admitted for so long is left alone: others were first. */
  private static final Duration ADMITTED_WITHIN = Duration.ofSeconds(30);

  /** The longest task takes some seconds, and a kill or a pause comes in between. */
  private static final Duration SETTLED_WITHIN = Duration.ofSeconds(150);

  private static final Duration IMPATIENCE = Duration.ofMillis(120);

  private final String name;
  private final ServerUnderTest server;
  private final Slot slot;
  private final Witness witness;
  private final SoakLog log;
  private final Random random;
  private int turns;

  TurnClient(
      String name, ServerUnderTest server, Slot slot, Witness witness, SoakLog log, Random random) {
    this.name = name;
    this.server = server;
    this.slot = slot;
    this.witness = witness;
    this.log = log;
    this.random = random;
  }

  /** One turn, to its end. */
  void next() throws InterruptedException {
    turns++;
    Turn turn = new Turn(slot.session(), name + "-" + turns, SoakAgent.prompt(random));
    slot.newest.set(turn);
    boolean async = random.nextInt(3) == 0;
    if (random.nextInt(8) == 0) {
      submitAndLeave(turn, async);
    }
    Thread twin = null;
    if (random.nextInt(8) == 0) {
      twin = Thread.ofVirtual().name(name + "-twin").start(() -> submitQuietly(turn, async));
    }
    toItsEnd(turn, async);
    if (twin != null) {
      twin.join();
    }
    if (random.nextInt(10) == 0) {
      abuse(turn);
    }
  }

  /** Until it has settled, or is refused. */
  private void toItsEnd(Turn turn, boolean async) throws InterruptedException {
    long started = System.nanoTime();
    boolean accepted = false;
    while (!log.isBroken()) {
      long waited = System.nanoTime() - started;
      if (accepted && waited > SETTLED_WITHIN.toNanos()) {
        log.broken(
            name,
            turn + " was accepted, and has no end after " + SETTLED_WITHIN.toSeconds() + " s");
      } else if (!accepted && waited > ADMITTED_WITHIN.toNanos()) {
        return;
      }
      try {
        if (accepted) {
          if (poll(turn)) {
            submit(turn, false);
            return;
          }
        } else {
          switch (submit(turn, async)) {
            case SETTLED -> {
              return;
            }
            case ACCEPTED -> accepted = true;
            case LATER -> Thread.sleep(20 + random.nextInt(80));
            case REFUSED -> {
              slot.replace(turn.session());
              return;
            }
          }
        }
      } catch (UncheckedIOException away) {
        log.say(name, turn + " -> " + away.getMessage());
        Thread.sleep(20 + random.nextInt(100));
      }
    }
  }

  private Sense submit(Turn turn, boolean async) throws InterruptedException {
    Before before = witness.before(turn);
    return witness.submitted(
        name, turn, before, server.client().post(turn.submitPath(), turn.request(async)));
  }

  /** True if it is known to have settled. */
  private boolean poll(Turn turn) throws InterruptedException {
    Before before = witness.before(turn);
    Answer answer = server.client().get(turn.path() + "?wait=" + (1 + random.nextInt(3)));
    if (answer.status() == 409) {
      return true; // another session is bound: the end is asked for by the same submission
    }
    if (answer.status() == 503) {
      Thread.sleep(20);
    }
    return witness.viewed(name, turn, before, answer);
  }

  /** A client that does not wait for its answer. */
  private void submitAndLeave(Turn turn, boolean async) throws InterruptedException {
    try (ServerClient impatient = new ServerClient(server.address(), IMPATIENCE)) {
      Before before = witness.before(turn);
      witness.submitted(name, turn, before, impatient.post(turn.submitPath(), turn.request(async)));
    } catch (UncheckedIOException left) {
      log.say(name, "left before the answer to " + turn);
    }
  }

  private void submitQuietly(Turn turn, boolean async) {
    try {
      submit(turn, async);
    } catch (UncheckedIOException away) {
      log.say(name, "the twin of " + turn + " -> " + away.getMessage());
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** The id of a known turn, for another request: must be refused, and must run nothing. */
  private void abuse(Turn turn) throws InterruptedException {
    if (!witness.before(turn).known()) {
      return;
    }
    try {
      Answer answer = server.client().post(turn.submitPath(), turn.otherRequest());
      log.say(name, "another request as " + turn + " -> " + Witness.brief(answer));
      if (answer.status() != 409 && answer.status() != 503) {
        log.broken(name, "another request as " + turn + " was answered with " + answer.text());
      }
    } catch (UncheckedIOException away) {
      log.say(name, "another request as " + turn + " -> " + away.getMessage());
    }
  }
}
