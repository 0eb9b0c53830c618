package dev.blackbox.agent.openclaw;

import dev.blackbox.agent.AgentResult.Kind;
import dev.blackbox.agent.CliLimits;
import dev.blackbox.agent.CliOutputException;
import dev.blackbox.agent.LineReader;
import dev.blackbox.agent.ProcessEnd;
import dev.blackbox.agent.RuntimeFiles;
import dev.blackbox.agent.Texts;
import dev.blackbox.process.ManagedProcess;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.MalformedJsonException;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** One turn: reads the record while the gateway works, and says how it ended. For one thread. */
final class OpenclawTurn implements AutoCloseable {

  private static final Duration LOOK_EVERY = Duration.ofMillis(100);

  private static final Duration PAUSE = Duration.ofMillis(20);

  /** After the answer, the last lines of the record may take a moment. */
  private static final Duration SETTLE_MAX = Duration.ofSeconds(5);

  /** A run that is to end does so in less than a second. */
  private static final Duration QUIET_MAX = Duration.ofSeconds(4);

  /**
   * After the end of a run the gateway may make another attempt, after a pause; but it must not say
   * nothing for ever.
   */
  private static final Duration ANSWER_MAX = Duration.ofMinutes(3);

  /** A connection that breaks is often the first sign of a process that ends. */
  private static final Duration EXIT_NOTICE = Duration.ofSeconds(1);

  private static final int ERROR_CHARACTERS_MAX = 1_000;

  private final OpenclawFiles files;
  private final ManagedProcess process;
  private final OpenclawTranscript transcript;
  private final LineReader record;
  private final long errorsFrom;

  /**
   * How the waiting for an answer ended.
   *
   * @param answer of the gateway; null if there is none
   * @param reason why there is no answer; empty if there is one
   * @param fault what was wrong with the record
   */
  record Ended(
      @Nullable HttpResponse<byte[]> answer,
      String reason,
      boolean interrupted,
      Optional<CliOutputException> fault) {

    boolean isAnswered() {
      return answer != null && answer.statusCode() / 100 == 2 && fault.isEmpty();
    }

    static Ended without(String reason) {
      return new Ended(null, reason, false, Optional.empty());
    }
  }

  /** Why a turn that has ended is no good. */
  record Failure(Kind kind, String text) {}

  OpenclawTurn(OpenclawFiles files, ManagedProcess process, OpenclawTranscript transcript)
      throws IOException {
    this.files = files;
    this.process = process;
    this.transcript = transcript;
    this.errorsFrom = RuntimeFiles.size(files.stderrLog());
    this.record =
        new LineReader(
            files.record(),
            RuntimeFiles.size(files.record()),
            CliLimits.DEFAULT.lineBytesMax(),
            CliLimits.DEFAULT.turnBytesMax());
  }

  OpenclawTranscript transcript() {
    return transcript;
  }

  long errorsFrom() {
    return errorsFrom;
  }

  /** From here on a run may begin. */
  void open(String turnId) throws IOException {
    RuntimeFiles.write(files.turn(), turnId);
  }

  /** From here on no run can begin. */
  void end() throws IOException {
    Files.deleteIfExists(files.turn());
  }

  /** Waits for the answer, as long as it takes. */
  Ended await(OpenclawClient.Call call) throws IOException {
    long overSince = System.nanoTime();
    try {
      while (true) {
        try {
          HttpResponse<byte[]> answer =
              call.answer().get(LOOK_EVERY.toNanos(), TimeUnit.NANOSECONDS);
          record.read(transcript::line);
          return new Ended(answer, "", false, Optional.empty());
        } catch (TimeoutException goesOn) {
          boolean more = record.read(transcript::line);
          if (more || !transcript.isOver()) {
            overSince = System.nanoTime();
          } else if (System.nanoTime() - overSince > ANSWER_MAX.toNanos()) {
            transcript.note("it gave no answer after the end of its run, and was not waited for");
            return Ended.without(
                "gave no answer within " + ANSWER_MAX.toSeconds() + " s after its run had ended");
          }
        }
      }
    } catch (ExecutionException failed) {
      return Ended.without("did not answer: " + failed.getCause());
    } catch (CancellationException stopped) {
      return Ended.without("was stopped");
    } catch (InterruptedException interrupted) {
      return new Ended(null, "", true, Optional.empty());
    } catch (CliOutputException fault) {
      return new Ended(null, "", false, Optional.of(fault));
    }
  }

  /** Waits for the lines that follow an answer. */
  void settle() {
    if (!awaitRecord(SETTLE_MAX)) {
      transcript.note("its run did not end within " + SETTLE_MAX.toSeconds() + " s of its answer");
    }
  }

  /** Waits until no run is at work. Says whether that was reached. */
  boolean awaitQuiet() {
    return awaitRecord(QUIET_MAX);
  }

  private boolean awaitRecord(Duration within) {
    long deadline = System.nanoTime() + within.toNanos();
    while (true) {
      try {
        record.read(transcript::line);
      } catch (IOException | CliOutputException unreadable) {
        return false;
      }
      if (transcript.isQuiet() || !process.isAlive()) {
        return transcript.isQuiet();
      }
      if (System.nanoTime() >= deadline) {
        return false;
      }
      LockSupport.parkNanos(PAUSE.toNanos());
    }
  }

  /** After a failed call: is the process gone, or about to be? */
  boolean hasExited() {
    try {
      return ProcessEnd.await(process, EXIT_NOTICE);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return !process.isAlive();
    }
  }

  /** What is wrong with a turn that was neither stopped nor cut short; empty if it is answered. */
  Optional<Failure> judge(Ended ended) {
    HttpResponse<byte[]> answer = ended.answer();
    if (answer == null) {
      return Optional.of(new Failure(Kind.TRANSPORT, ended.reason()));
    }
    if (answer.statusCode() / 100 != 2) {
      String body = new String(answer.body(), StandardCharsets.UTF_8);
      return Optional.of(
          new Failure(
              Kind.TRANSPORT,
              "answered POST /v1/chat/completions with "
                  + answer.statusCode()
                  + ": "
                  + Texts.cut(body, ERROR_CHARACTERS_MAX)));
    }
    try {
      return judge(Json.parse(answer.body()));
    } catch (MalformedJsonException malformed) {
      return Optional.of(
          new Failure(Kind.PROTOCOL, "answered with text that is " + malformed.getMessage()));
    }
  }

  private Optional<Failure> judge(@Nullable Object json) {
    if (!(json instanceof Map<?, ?> response)) {
      return Optional.of(new Failure(Kind.PROTOCOL, "answered with something else than an object"));
    }
    Map<String, @Nullable Object> traced = new LinkedHashMap<>();
    traced.put("type", "chat_completion");
    response.forEach((key, value) -> traced.put(String.valueOf(key), value));
    transcript.response(Json.writeBytes(traced));
    if (!(response.get("choices") instanceof List<?> choices) || choices.isEmpty()) {
      return Optional.of(new Failure(Kind.PROTOCOL, "answered with no choices"));
    }
    if (!(choices.getFirst() instanceof Map<?, ?> choice)
        || !(choice.get("message") instanceof Map<?, ?> message)) {
      return Optional.of(new Failure(Kind.PROTOCOL, "answered with a choice without a message"));
    }
    if (!transcript.hasAnswer()) {
      if (!(message.get("content") instanceof String text) || text.isEmpty()) {
        return Optional.of(new Failure(Kind.TRANSPORT, "produced no answer"));
      }
      transcript.note("the last message is not in the record; it is taken from the answer");
      transcript.say(text);
    }
    return Optional.empty();
  }

  @Override
  public void close() {
    record.close();
  }
}
