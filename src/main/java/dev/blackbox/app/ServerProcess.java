package dev.blackbox.app;

import dev.blackbox.kernel.Resource;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A server as a child process: what the demo, the bench and the tests kill and start again. Closing
 * it ends it.
 */
public final class ServerProcess implements Resource {

  private static final Pattern READY = Pattern.compile("ready at (http://\\S+),");
  private static final Duration END_LIMIT = Duration.ofSeconds(45);
  private static final int LOG_TAIL_CHARACTERS = 2_000;

  /** What the launcher reads: the child gets these of the {@code BBS_*} variables, no others. */
  private static final List<String> KEPT = List.of("BBS_JAVA_HOME", "BBS_JAVA_OPTS", "BBS_AOT");

  private final Process process;
  private final Path log;
  private final CompletableFuture<String> readyLine = new CompletableFuture<>();

  private ServerProcess(Process process, Path log) {
    this.process = process;
    this.log = log;
  }

  /**
   * Starts {@code serve}.
   *
   * @param options such as {@code --port=0}
   * @param environment variables beside those of this process
   * @param log file that its standard error is appended to
   */
  public static ServerProcess start(
      List<String> options, Map<String, String> environment, Path log) {
    return start(Main.class, options, environment, log);
  }

  /**
   * As above, with another main class.
   *
   * @param main has to understand {@code serve}
   */
  public static ServerProcess start(
      Class<?> main, List<String> options, Map<String, String> environment, Path log) {
    return start(List.of(), main, options, environment, log);
  }

  /**
   * As above, through another program.
   *
   * @param through words before the command line; has to become the program that they name
   */
  static ServerProcess start(
      List<String> through,
      Class<?> main,
      List<String> options,
      Map<String, String> environment,
      Path log) {
    List<String> arguments = new ArrayList<>(List.of("serve"));
    arguments.addAll(options);
    List<String> words = new ArrayList<>(through);
    words.addAll(JavaCommand.of(main, arguments).words());
    ProcessBuilder builder = new ProcessBuilder(words);
    builder.environment().keySet().removeIf(ServerProcess::isOurs);
    builder.environment().putAll(environment);
    builder.redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()));
    builder.redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
    try {
      ServerProcess server = new ServerProcess(builder.start(), log);
      // Not a virtual thread: one that waits for a pipe keeps its carrier, for which the scheduler
      // has a substitute for 30 s only. Two of them stop all virtual threads of a machine with two
      // processors that has nothing to do for so long (JDK-8389671).
      Thread.ofPlatform().daemon().name("server-stdout").start(server::readOutput);
      return server;
    } catch (IOException failure) {
      throw new UncheckedIOException("cannot start " + words.getFirst(), failure);
    }
  }

  private static boolean isOurs(String variable) {
    return variable.startsWith("BBS_") && !KEPT.contains(variable);
  }

  /** Reads to the end, so that the child never blocks on a full pipe. */
  private void readOutput() {
    try (BufferedReader lines = process.inputReader()) {
      String line = lines.readLine();
      while (line != null) {
        if (READY.matcher(line).find()) {
          readyLine.complete(line);
        }
        line = lines.readLine();
      }
    } catch (IOException gone) {
      readyLine.completeExceptionally(gone);
    }
    readyLine.completeExceptionally(new IOException("it ended before it was ready"));
  }

  /**
   * Waits for the line that it prints when it is ready.
   *
   * @throws IllegalStateException if it ends first or takes too long; the text has the end of its
   *     log
   */
  public String awaitReady(Duration within) throws InterruptedException {
    try {
      return readyLine.get(within.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException failure) {
      String how =
          process.waitFor(1, TimeUnit.SECONDS)
              ? "ended with exit code " + process.exitValue()
              : "is not ready after " + within.toSeconds() + " s";
      throw new IllegalStateException("the server " + how + ". " + logTail(), failure);
    }
  }

  /** Whether it has printed that line. */
  public boolean isReady() {
    return readyLine.isDone() && !readyLine.isCompletedExceptionally();
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** Where it listens; after {@link #awaitReady}. */
  public URI address() {
    Matcher matcher = READY.matcher(readyLine.join());
    if (!matcher.find()) {
      throw new IllegalStateException("no address in: " + readyLine.join());
    }
    return URI.create(matcher.group(1));
  }

  public long pid() {
    return process.pid();
  }

  /** The processes below it, at this moment. */
  public List<ProcessHandle> descendants() {
    return process.descendants().toList();
  }

  /** SIGKILL, and waits for its death. */
  public void kill() throws InterruptedException {
    process.destroyForcibly();
    process.waitFor();
  }

  /** SIGTERM. */
  public void terminate() {
    process.destroy();
  }

  /** Waits for its end and returns its exit code. */
  public int awaitEnd(Duration within) throws InterruptedException {
    if (!process.waitFor(within.toMillis(), TimeUnit.MILLISECONDS)) {
      throw new IllegalStateException("the server still runs after " + within + ". " + logTail());
    }
    return process.exitValue();
  }

  /** The end of its log, for failures. */
  public String logTail() {
    try {
      String text = Files.exists(log) ? Files.readString(log) : "";
      return "End of its log:\n"
          + text.substring(Math.max(0, text.length() - LOG_TAIL_CHARACTERS)).strip();
    } catch (IOException unreadable) {
      return "Its log cannot be read: " + unreadable;
    }
  }

  @Override
  public void close() {
    process.destroy();
    try {
      if (!process.waitFor(END_LIMIT.toMillis(), TimeUnit.MILLISECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException interrupted) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
