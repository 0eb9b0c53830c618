package dev.blackbox.http;

import dev.blackbox.control.Rollout;

/** The server as a whole: what it is bound to, and whether it is paused. */
final class RolloutRoutes {

  private final Rollout rollout;

  RolloutRoutes(Rollout rollout) {
    this.rollout = rollout;
  }

  Answer status(Call call) {
    return Answer.ok(Answers.status(rollout.status()));
  }

  Answer register(Call call) {
    return Answer.ok(Answers.binding(rollout.register(Requests.register(call.body()))));
  }

  Answer pause(Call call) {
    Requests.Pause request = Requests.pause(call.body());
    return Answer.ok(Answers.pause(rollout.pause(request.reason(), request.timeoutSeconds())));
  }

  Answer resume(Call call) {
    Requests.Resume request = Requests.resume(call.body());
    return Answer.ok(Answers.resume(rollout.resume(request.reason(), request.version())));
  }

  Answer pauseState(Call call) {
    return Answer.unnamed(Answers.pauseState(rollout.pauseState()));
  }
}
