package dev.blackbox.app;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The bench's agent, and the same calls without a server between. */
final class BenchAgent {

  private static final String BODY =
      "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"plain\"}]}";

  /**
   * "plain N" makes N calls on one connection and writes their times; "stream N" makes N streamed
   * ones at once; anything else is answered without a call. curl does not send what follows a '#',
   * but counts it up.
   */
  private static final String SCRIPT =
      """
      #!/bin/sh
      set -eu
      read -r kind count || true
      ask() {
        printf 'header = "Authorization: Bearer %s"\n' "$OPENAI_API_KEY" |
          curl -sSf -K - -o /dev/null -H 'Content-Type: application/json' "$@" \
            "$OPENAI_BASE_URL/chat/completions#[1-$count]"
      }
      case ${kind:-} in
        plain) ask -w '%{time_total}\n' -d '@PLAIN@' >'@TIMES@' ;;
        stream) ask -N -Z --parallel-max "$count" -d '@STREAM@' ;;
      esac
      echo done
      """;

  private BenchAgent() {}

  /**
   * The program.
   *
   * @param times file for the times of plain calls, a line of seconds each
   */
  static String script(Path times) {
    String stream =
        BODY.replace("plain", "stream").replace("{\"model\"", "{\"stream\":true,\"model\"");
    return SCRIPT
        .replace("@PLAIN@", BODY)
        .replace("@STREAM@", stream)
        .replace("@TIMES@", times.toString());
  }

  /** The same plain calls, straight to the engine. */
  static void plainCalls(int port, int count, Path times) throws Exception {
    Process curl =
        new ProcessBuilder(
                List.of(
                    "curl",
                    "-sS",
                    "-o",
                    "/dev/null",
                    "-w",
                    "%{time_total}\\n",
                    "-H",
                    "Content-Type: application/json",
                    "-d",
                    BODY,
                    "http://127.0.0.1:" + port + "/v1/chat/completions#[1-" + count + "]"))
            .redirectOutput(times.toFile())
            .start();
    if (curl.waitFor() != 0) {
      throw new IllegalStateException("curl ended with " + curl.exitValue());
    }
  }

  /** The median of a file with one number of seconds a line. */
  static double medianMillis(Path times) throws IOException {
    Samples samples = new Samples();
    for (String line : Files.readAllLines(times)) {
      samples.add(Double.parseDouble(line) * 1000);
    }
    return samples.p50();
  }
}
