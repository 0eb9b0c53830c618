package dev.blackbox.app;

import dev.blackbox.app.soak.Soak;
import dev.blackbox.app.soak.SoakPlan;
import dev.blackbox.app.soak.SoakReport;
import dev.blackbox.config.LogLevel;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;

/** {@code soak}, see {@link Soak}. */
@Command(
    name = "soak",
    description = {
      "Kills a real server again and again while clients work with it, and checks every promise.",
      "Exit code 0 if all held, 1 with a log of what happened at the first that did not."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Commands.Root.class)
final class SoakCommand implements Callable<Integer> {

  @CommandLine.Spec private CommandSpec spec;

  @CommandLine.Option(
      names = "--minutes",
      paramLabel = "N",
      defaultValue = "2",
      description = "How long, in minutes, with a fraction if need be; default: ${DEFAULT-VALUE}.")
  private double minutes;

  @CommandLine.Option(
      names = "--seed",
      paramLabel = "S",
      description = "Of all choices: what happens, and when; default: another each time.")
  private @Nullable Long seed;

  @CommandLine.Option(
      names = "--directory",
      paramLabel = "D",
      description =
          "Empty or new directory for state and logs, which is kept; default: one of its own, which"
              + " is kept only if a promise was broken.")
  private @Nullable Path directory;

  @CommandLine.Option(
      names = "--ready-within",
      paramLabel = "SECONDS",
      defaultValue = "30",
      description = "Bound for the time from a start to being ready; default: ${DEFAULT-VALUE}.")
  private double readyWithin;

  @Override
  public Integer call() throws InterruptedException {
    Logging.start(LogLevel.WARNING);
    if (!(minutes > 0) || !(readyWithin > 0)) {
      throw new ExitException(ExitCode.USAGE, "--minutes and --ready-within must be above 0.");
    }
    if (AgentPrograms.onPath("bash").isEmpty()) {
      throw new ExitException(
          ExitCode.USAGE, "bash is not on the path; the soak's agent needs it.");
    }
    Path place = place();
    long chosen = seed == null ? RandomGenerator.getDefault().nextLong(1_000_000_000) : seed;
    SoakPlan plan =
        SoakPlan.of(place, Duration.ofMillis((long) (minutes * 60_000)), chosen)
            .withReadyWithin(Duration.ofMillis((long) (readyWithin * 1000)));
    PrintWriter out = spec.commandLine().getOut();
    out.printf("bbs soak: seed %d, in %s%n", chosen, place);
    out.flush();
    Soak soak = Soak.open(plan);
    Thread onInterrupt = Thread.ofPlatform().unstarted(soak::close);
    Runtime.getRuntime().addShutdownHook(onInterrupt);
    boolean held;
    try (soak) {
      held = report(soak, soak.run(), chosen, out);
    } finally {
      DemoCommand.forget(onInterrupt);
    }
    if (held && directory == null) {
      DemoCommand.delete(place);
    }
    return (held ? ExitCode.OK : ExitCode.INTERNAL).number();
  }

  private boolean report(Soak soak, SoakReport report, long chosen, PrintWriter out) {
    if (soak.isStopped()) {
      out.println("Stopped; what it has is in " + report.kept());
      out.flush();
      return false;
    }
    report.lines().forEach(out::println);
    report
        .violation()
        .ifPresent(
            broken -> {
              out.println("BROKEN: " + broken);
              out.println("What happened, step by step: " + report.kept().resolve("soak.log"));
              out.println("Server's log, state, runs of the agent: " + report.kept());
              out.println(
                  "The same plan again: bbs soak --seed=" + chosen + " --minutes=" + minutes);
            });
    out.flush();
    return report.violation().isEmpty();
  }

  private Path place() {
    try {
      if (directory == null) {
        return Files.createTempDirectory("bbs-soak-").toRealPath();
      }
      Files.createDirectories(directory);
      try (Stream<Path> content = Files.list(directory)) {
        if (content.findAny().isPresent()) {
          throw new ExitException(ExitCode.USAGE, "--directory " + directory + " is not empty.");
        }
      }
      return directory.toRealPath();
    } catch (IOException failure) {
      throw new UncheckedIOException("no directory for the soak", failure);
    }
  }
}
