package dev.blackbox.proxy;

import dev.blackbox.translate.ErrorClass;
import java.util.Optional;

/**
 * A call that its agent sent again while the first still runs, or after it went well: told what the
 * first is told, without a question to the engine and without a step. Has a record of its own.
 */
final class FollowedCall {

  private final KnownCall first;
  private final OpenTurn turn;
  private final CallRecord record;
  private final Speech speech;
  private final Visit visit;
  private final AgentAnswer answer;

  FollowedCall(
      KnownCall first,
      OpenTurn turn,
      CallRecord record,
      Speech speech,
      Visit visit,
      AgentAnswer answer) {
    this.first = first;
    this.turn = turn;
    this.record = record;
    this.speech = speech;
    this.visit = visit;
    this.answer = answer;
  }

  /** As {@link ModelCall#run}. */
  void run(long requestBytes) {
    try (Tape.Reader reader = visit.engage(first.tape().follow())) {
      if (record.start(requestBytes)) {
        follow(reader);
      } else {
        answer.whole(Refusal.NOT_RECORDED.reply(speech.dialect()));
      }
    } catch (VisitEndedException ended) {
      breakOff(ended.ending());
    } finally {
      try {
        record.end();
      } finally {
        turn.leave(visit);
      }
    }
  }

  private void follow(Tape.Reader reader) throws VisitEndedException {
    Optional<Tape.Head> head = reader.head();
    visit.throwIfEnded();
    if (head.isEmpty()) {
      lost();
    } else if (head.get().streamed()) {
      relay(head.get(), reader);
    } else {
      byte[] body = reader.all();
      visit.throwIfEnded();
      if (!reader.isWhole()) {
        lost();
      } else {
        answer.whole(head.get().status(), head.get().headers(), body);
      }
    }
    record.verdict(reader.verdict().orElse("internal_error"));
    visit.throwIfEnded();
  }

  private void relay(Tape.Head head, Tape.Reader reader) throws VisitEndedException {
    answer.begin(head.status(), head.headers());
    byte[] piece = reader.next();
    while (piece.length > 0) {
      answer.write(piece);
      piece = reader.next();
    }
    visit.throwIfEnded();
    if (!reader.isWhole()) {
      record.verdict(reader.verdict().orElse("internal_error"));
      throw AgentAnswer.cut();
    }
    answer.end();
  }

  /** The first call ended without an answer, or its answer was too long to be kept. */
  private void lost() throws VisitEndedException {
    answer.whole(
        speech.failure(
            CallFailure.ours(
                "internal_error",
                ErrorClass.ENGINE,
                502,
                "retry_lost",
                "The answer to the first attempt of this call is lost.")));
  }

  private void breakOff(Visit.Ending ending) {
    record.verdict(
        switch (ending) {
          case AGENT_GONE -> "agent_gone";
          case TURN_CLOSED -> "turn_closed";
        });
    try {
      if (ending == Visit.Ending.TURN_CLOSED && !answer.begun()) {
        answer.whole(speech.failure(CallFailure.turnClosed()));
        return;
      }
    } catch (VisitEndedException _) {
      // Gone as well.
    }
    throw AgentAnswer.cut();
  }
}
