package dev.blackbox.app.soak;

import dev.blackbox.app.Main;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.SplittableRandom;

/**
 * What a soak is to do.
 *
 * @param directory an empty directory for everything; its absolute path marks the agent's processes
 * @param duration how long kills go on; the checks at the end come on top
 * @param seed of all choices: which action, when, which kill. What the operating system does
 *     between them is not in our hand, so the same seed gives the same plan, not the same
 *     interleaving
 * @param turnClients clients that ask for turns, all at the same time
 * @param readyWithin bound for the time from the start of a process to {@code /readyz} saying yes
 * @param serverMain what is started; has to understand {@code serve}
 * @param agentScript the agent, a bash script in which {@code @RUNS@} stands for the file that it
 *     adds a line to in each run
 */
public record SoakPlan(
    Path directory,
    Duration duration,
    long seed,
    int turnClients,
    Duration readyWithin,
    Class<?> serverMain,
    String agentScript) {

  public SoakPlan {
    directory = directory.toAbsolutePath();
    if (!duration.isPositive() || !readyWithin.isPositive() || turnClients < 1) {
      throw new IllegalArgumentException(
          "duration, readyWithin and turnClients must be above 0: "
              + duration
              + ", "
              + readyWithin
              + ", "
              + turnClients);
    }
  }

  /** The real server and the agent that comes with the program. */
  public static SoakPlan of(Path directory, Duration duration, long seed) {
    return new SoakPlan(
        directory, duration, seed, 3, Duration.ofSeconds(30), Main.class, SoakAgent.script());
  }

  /** The same with another server, to try whether the soak finds what is wrong with it. */
  public SoakPlan withServer(Class<?> main) {
    return new SoakPlan(directory, duration, seed, turnClients, readyWithin, main, agentScript);
  }

  /** The same with another agent. */
  public SoakPlan withAgent(String script) {
    return new SoakPlan(directory, duration, seed, turnClients, readyWithin, serverMain, script);
  }

  public SoakPlan withReadyWithin(Duration bound) {
    return new SoakPlan(directory, duration, seed, turnClients, bound, serverMain, agentScript);
  }

  /** The same in another directory. */
  SoakPlan in(Path other) {
    return new SoakPlan(other, duration, seed, turnClients, readyWithin, serverMain, agentScript);
  }

  /** Choices for one of the actors: its own sequence, whatever the others do. */
  Random choices(String actor) {
    return new Random(new SplittableRandom(seed ^ actor.hashCode()).nextLong());
  }
}
