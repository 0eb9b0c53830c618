package dev.blackbox.http;

import dev.blackbox.control.Rollout;
import dev.blackbox.control.Rollout.CommandSubmission;
import dev.blackbox.control.Rollout.CommandView;
import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.turn.CommandId;
import dev.blackbox.turn.CommandSnapshot;
import dev.blackbox.turn.TurnError;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Shell commands in the agent's workspace. */
final class CommandRoutes {

  private final Rollout rollout;
  private final Limits limits;
  private final int waitSecondsMax;
  private final int pageMax;

  /**
   * @param pageMax commands that one list tells of
   */
  CommandRoutes(Rollout rollout, Limits limits, int waitSecondsMax, int pageMax) {
    this.rollout = rollout;
    this.limits = limits;
    this.waitSecondsMax = waitSecondsMax;
    this.pageMax = pageMax;
  }

  Answer execute(Call call) {
    Requests.Execute execute = Requests.execute(call, waitSecondsMax);
    CommandSubmission submission = rollout.execute(execute.request());
    CommandSnapshot command = submission.command();
    Pace pace = execute.pace();
    if (pace.waits() && !command.state().isSettled()) {
      command = rollout.awaitCommand(command.number(), pace.within()).command();
    }
    boolean named = execute.request().commandId().isPresent();
    Answer answer =
        pace.endsWithResult(command.state().isSettled())
            ? settled(command, named, submission.replay())
            : accepted(command, submission.replay());
    return pace.finish(answer, submission.replay());
  }

  /** Fields that the reference server does not have are for those who named their command. */
  private static Answer settled(CommandSnapshot command, boolean named, boolean replay) {
    if (command.resultJson().isEmpty()) {
      return Answer.refusal(
          command
              .error()
              .map(TurnError::toProblem)
              .orElseGet(
                  () ->
                      Problem.of(
                          ErrorCode.INTERNAL_ERROR, "The command has no result.", Map.of())));
    }
    Map<String, @Nullable Object> answer = Answers.commandResult(command);
    if (named) {
      answer.put("command_id", id(command));
      answer.put("idempotent_replay", replay);
    }
    return Answer.ok(answer);
  }

  private static Answer accepted(CommandSnapshot command, boolean replay) {
    return Answer.of(
            202,
            Answers.fields(
                "session_id",
                command.sessionId().value(),
                "instance_id",
                command.instanceId().value(),
                "command_id",
                id(command),
                "status",
                command.state().wireName(),
                "idempotent_replay",
                replay))
        .with("location", "/v1/sessions/" + command.sessionId() + "/commands/" + id(command))
        .with("retry-after", Dispatcher.RETRY_AFTER_SECONDS);
  }

  Answer show(Call call) {
    Poll poll = Poll.of(call, waitSecondsMax);
    CommandView view = rollout.command(call.sessionId(), call.commandId());
    return poll.answer(new PolledCommand(rollout, view), limits);
  }

  Answer cancel(Call call) {
    return Answer.ok(Answers.command(rollout.cancelCommand(call.sessionId(), call.commandId())));
  }

  /** The last number of a page is where the next one begins, if this one is full. */
  Answer list(Call call) {
    Faults faults = new Faults();
    int after = call.query().whole("after", 0, 0, faults);
    int limit = Math.min(call.query().whole("limit", 1, pageMax, faults), pageMax);
    faults.throwIfAny();
    List<CommandSnapshot> page = rollout.commands(call.sessionId(), after, limit + 1);
    List<CommandSnapshot> shown = page.subList(0, Math.min(limit, page.size()));
    return Answer.ok(
        Answers.fields(
            "commands",
            shown.stream().map(Answers::commandLine).toList(),
            "next_after",
            page.size() > limit ? shown.getLast().number() : null));
  }

  private static String id(CommandSnapshot command) {
    return command.commandId().map(CommandId::value).orElse("");
  }

  private record PolledCommand(Rollout rollout, CommandView view)
      implements Poll.Subject<PolledCommand> {

    @Override
    public boolean settled() {
      return view.command().state().isSettled();
    }

    @Override
    public Tag tag() {
      CommandSnapshot command = view.command();
      return Tag.of(
          "command",
          command.number(),
          command.updatedAt(),
          command.state().wireName(),
          view.sessionState());
    }

    @Override
    public PolledCommand await(Duration within) {
      return new PolledCommand(
          rollout, rollout.awaitCommand(view.command().number(), Optional.of(within)));
    }

    @Override
    public Map<String, ?> answer() {
      return Answers.command(view);
    }
  }
}
