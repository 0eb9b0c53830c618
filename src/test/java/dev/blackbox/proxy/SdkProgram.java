package dev.blackbox.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.blackbox.wire.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A small program that talks through a proxy with an official SDK, prints one line of JSON with
 * what the SDK gave it, and stays until it is closed, with its connections as the SDK left them.
 */
final class SdkProgram implements AutoCloseable {

  private static final Path HOME = Path.of("target/agents").toAbsolutePath();
  private static final Path PROGRAMS = Path.of("src/test/resources/dev/blackbox/proxy");
  private static final int LIMIT_SECONDS = 120;

  private final Process process;
  private final Path errors;

  private SdkProgram(Process process, Path errors) {
    this.process = process;
    this.errors = errors;
  }

  /** Skips the test, and says why, if the SDK is not installed. */
  static void needs(String sdk) {
    boolean there =
        Files.isDirectory(HOME.resolve("node_modules").resolve(sdk))
            && Files.isExecutable(HOME.resolve("bin/node"));
    String otherwise = "no " + sdk + " in target/agents: run mvn -Pagents verify";
    if (!there) {
      System.out.println("SDK tests are skipped: " + otherwise);
    }
    assumeTrue(there, otherwise);
  }

  static SdkProgram start(ProxyRig rig, String program, String... arguments) throws IOException {
    return start(rig.proxy.port(), ProxyRig.KEY, program, arguments);
  }

  static SdkProgram start(int port, String key, String program, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(HOME.resolve("bin/node").toString());
    command.add(PROGRAMS.resolve(program).toString());
    command.addAll(List.of(arguments));
    Path errors = Files.createTempFile("sdk-", ".err");
    ProcessBuilder builder = new ProcessBuilder(command).redirectError(errors.toFile());
    builder.environment().put("SDK_HOME", HOME.toString());
    builder.environment().put("BASE_URL", "http://127.0.0.1:" + port);
    builder.environment().put("PROXY_KEY", key);
    return new SdkProgram(builder.start(), errors);
  }

  /** A shell script that is an agent: it runs the program that its prompt names, with its words. */
  static String asAgent() {
    return """
    #!/bin/sh
    set -eu
    read -r program arguments || true
    export SDK_HOME='%s' BASE_URL="${OPENAI_BASE_URL%%/v1}" PROXY_KEY="$OPENAI_API_KEY"
    # shellcheck disable=SC2086 # they are words
    exec '%s' '%s'/"$program" $arguments
    """
        .formatted(HOME, HOME.resolve("bin/node"), PROGRAMS.toAbsolutePath());
  }

  /** What an SDK gave to its user. */
  record Outcome(Map<String, Object> tree) {

    /** The value at a path such as {@code result.content.0.text}; absent ones fail. */
    Object at(String path) {
      Object here = tree;
      for (String step : path.split("\\.")) {
        here = Objects.requireNonNull(child(here, step), () -> path + " of " + tree);
      }
      return here;
    }

    private static @Nullable Object child(Object parent, String step) {
      return switch (parent) {
        case Map<?, ?> map -> map.get(step);
        case List<?> list when Integer.parseInt(step) < list.size() ->
            list.get(Integer.parseInt(step));
        default -> null;
      };
    }

    List<?> list(String path) {
      return (List<?>) at(path);
    }

    long number(String path) {
      return ((Number) at(path)).longValue();
    }

    /** Class and status of what the SDK threw. */
    Outcome threw(String errorClass, int status) {
      assertThat(tree).as("nothing was thrown").containsKey("error");
      assertThat(at("error.class")).as(tree.toString()).isEqualTo(errorClass);
      assertThat(((Map<?, ?>) at("error")).get("status"))
          .as(tree.toString())
          .isEqualTo(status == 0 ? null : status);
      return this;
    }
  }

  /** Waits for the line, and leaves the program as it is. */
  Outcome outcome() throws IOException {
    process.onExit().orTimeout(LIMIT_SECONDS, TimeUnit.SECONDS).exceptionally(_ -> destroyed());
    BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
    String line = out.readLine();
    assertThat(line).as("the program's errors: %s", Files.readString(errors)).isNotNull();
    return new Outcome(Json.object(line));
  }

  private Process destroyed() {
    return process.destroyForcibly();
  }

  /** As {@link #start} to {@link #outcome}, and ends the program. */
  static Outcome run(ProxyRig rig, String program, String... arguments) throws IOException {
    try (SdkProgram running = start(rig, program, arguments)) {
      return running.outcome();
    }
  }

  @Override
  public void close() throws IOException {
    process.getOutputStream().close();
    try {
      if (!process.waitFor(5, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException interrupted) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
    Files.delete(errors);
  }
}
