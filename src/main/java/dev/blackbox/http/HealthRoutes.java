package dev.blackbox.http;

import dev.blackbox.control.Rollout;
import java.util.List;
import java.util.Map;

/** Is anybody there, and can it work? */
final class HealthRoutes {

  /** The version of the API, as the reference server reports it; its clients compare it. */
  private static final String API_VERSION = "1.1.0";

  private final Rollout rollout;

  HealthRoutes(Rollout rollout) {
    this.rollout = rollout;
  }

  /** Kept as the reference has it: always the same words. {@code /readyz} tells the truth. */
  Answer health(Call call) {
    return Answer.unnamed(Answers.fields("healthy", true, "version", API_VERSION));
  }

  Answer live(Call call) {
    return Answer.ok(Map.of("live", true));
  }

  Answer ready(Call call) {
    List<Rollout.Check> checks = rollout.checks();
    boolean ready = checks.stream().allMatch(Rollout.Check::ok);
    return Answer.of(
        ready ? 200 : 503,
        Answers.fields(
            "ready", ready, "checks", checks.stream().map(HealthRoutes::check).toList()));
  }

  private static Map<String, ?> check(Rollout.Check check) {
    return Answers.fields("name", check.name(), "ok", check.ok(), "reason", check.reason());
  }
}
