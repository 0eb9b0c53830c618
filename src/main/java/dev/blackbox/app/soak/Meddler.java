package dev.blackbox.app.soak;

import dev.blackbox.app.ServerClient.Answer;
import dev.blackbox.app.soak.Witness.Before;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Everything else that controllers do, at any time: replays of old turns, cancels, commands that
 * leave processes behind, pauses, the same registration again, aborts, reads.
 */
final class Meddler {

  private static final String WHO = "meddler";

  private final ServerUnderTest server;
  private final Path agent;
  private final Slot slot;
  private final Witness witness;
  private final SoakLog log;
  private final Random random;
  private int commands;

  Meddler(
      ServerUnderTest server, Path agent, Slot slot, Witness witness, SoakLog log, Random random) {
    this.server = server;
    this.agent = agent;
    this.slot = slot;
    this.witness = witness;
    this.log = log;
    this.random = random;
  }

  /** One thing. */
  void next() throws InterruptedException {
    Thread.sleep(20 + random.nextInt(200));
    int choice = random.nextInt(100);
    try {
      if (choice < 45) {
        replay();
      } else if (choice < 57) {
        cancel();
      } else if (choice < 72) {
        command();
      } else if (choice < 80) {
        read();
      } else if (choice < 90) {
        slot.again();
      } else if (choice < 96) {
        slot.pauseAndResume(Duration.ofMillis(50 + random.nextInt(500)));
      } else {
        slot.replace(slot.session());
      }
    } catch (UncheckedIOException away) {
      log.say(WHO, String.valueOf(away.getMessage()));
    }
  }

  private void replay() throws InterruptedException {
    Optional<Turn> turn = witness.anySettled(random);
    if (turn.isPresent()) {
      Before before = witness.before(turn.get());
      Answer answer = server.client().post(turn.get().submitPath(), turn.get().request(false));
      witness.submitted(WHO, turn.get(), before, answer);
    }
  }

  private void cancel() throws InterruptedException {
    @Nullable Turn turn = slot.newest.get();
    if (turn != null) {
      Answer answer = server.client().post(turn.path() + "/cancel", Map.of());
      log.say(WHO, "cancel " + turn + " -> " + Witness.brief(answer));
      refuseBugs("cancel", answer);
    }
  }

  private void command() throws InterruptedException {
    commands++;
    String line =
        (random.nextBoolean()
                ? MarkedProcesses.marker(agent) + " sleep 600 >/dev/null 2>&1 & "
                : "")
            + "sleep 0."
            + random.nextInt(3)
            + "; echo command "
            + commands;
    Answer answer =
        server
            .client()
            .post(
                "/v1/sessions/" + slot.session() + "/execute_cmd",
                Map.of("cmd", line, "timeout", 20));
    log.say(WHO, "command " + commands + " -> " + Witness.brief(answer));
    refuseBugs("a command", answer);
    if (answer.field("returncode").equals("0")
        && !answer.field("stdout").equals("command " + commands + "\n")) {
      log.broken(WHO, "command " + commands + " gave " + answer.text());
    }
  }

  private void read() throws InterruptedException {
    Answer answer =
        server
            .client()
            .get("/v1/sessions/" + slot.session() + "?include_history=true&include_turns=true");
    log.say(WHO, "session -> " + Witness.brief(answer));
    refuseBugs("reading a session", answer);
    refuseBugs("the status", server.client().get("/v1/status"));
  }

  private void refuseBugs(String what, Answer answer) {
    if (answer.status() == 500 || answer.status() == 400) {
      log.broken(WHO, what + " was answered with " + answer.text());
    }
  }
}
