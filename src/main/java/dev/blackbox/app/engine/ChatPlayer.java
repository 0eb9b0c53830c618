package dev.blackbox.app.engine;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Plays one answer onto a connection, with its pace and its fault. */
final class ChatPlayer {

  /** How an answer came to its end. */
  enum End {
    /** As HTTP has it; the connection can be used again. */
    WELL,
    /** We broke it off, as the script says. */
    CUT,
    /** The other side hung up. */
    HUNG_UP
  }

  private final EngineConnection connection;
  private final Step step;
  private final Optional<Fault> fault;
  private final ChatReply reply;
  private boolean usageSent;

  ChatPlayer(EngineConnection connection, Step step, Optional<Fault> fault, ChatReply reply) {
    this.connection = connection;
    this.step = step;
    this.fault = fault;
    this.reply = reply;
  }

  /** Whether the usage went out whole. */
  boolean usageSent() {
    return usageSent;
  }

  End play(boolean stream) throws IOException {
    if (!connection.await(step.pace().beforeFirst())) {
      return End.HUNG_UP;
    }
    if (fault.orElse(null) instanceof Fault.Instead(var status, var type, var body, var retry)) {
      Map<String, String> headers =
          retry.map(seconds -> Map.of("retry-after", seconds)).orElse(Map.of());
      connection.respond(status, type, headers, utf8(body));
      return End.WELL;
    }
    if (fault.orElse(null) instanceof Fault.NoAnswer) {
      return End.CUT;
    }
    return stream ? playStream() : playWhole();
  }

  private End playWhole() throws IOException {
    byte[] body = utf8(reply.whole());
    byte[] half = Arrays.copyOf(body, body.length / 2);
    return switch (fault.orElse(null)) {
      case Fault.CutAfterEvents(_, boolean reset) -> {
        connection.respondInPart(half, body.length);
        yield cut(reset);
      }
      case Fault.CutAfterBytes(int bytes) -> {
        connection.respondInPart(Arrays.copyOf(body, Math.min(bytes, body.length)), body.length);
        yield End.CUT;
      }
      case Fault.Stall(_, Duration time) -> {
        connection.respondInPart(half, body.length);
        yield connection.await(time) ? End.CUT : End.HUNG_UP;
      }
      case Fault.EndAfterEvents _ -> {
        connection.respond(200, "application/json", Map.of(), half);
        yield End.WELL;
      }
      case Fault.InsertAfterEvents(_, String text) -> {
        connection.respond(200, "application/json", Map.of(), utf8(text));
        yield End.WELL;
      }
      case null, default -> {
        connection.respond(200, "application/json", Map.of(), body);
        usageSent = true;
        yield End.WELL;
      }
    };
  }

  private End playStream() throws IOException {
    connection.beginStream();
    for (int i = 0; i < step.pace().heartbeats(); i++) {
      connection.chunk(utf8(": dressage-heartbeat\n\n"));
      if (!connection.await(step.pace().betweenEvents())) {
        return End.HUNG_UP;
      }
    }
    List<String> events = reply.events();
    int bytesLeft =
        fault.orElse(null) instanceof Fault.CutAfterBytes(int bytes) ? bytes : Integer.MAX_VALUE;
    for (int i = 0; i < events.size(); i++) {
      Optional<End> early = faultBefore(i);
      if (early.isPresent()) {
        return early.get();
      }
      if (i > 0 && !connection.await(step.pace().betweenEvents())) {
        return End.HUNG_UP;
      }
      byte[] event = utf8("data: " + events.get(i) + "\n\n");
      if (event.length > bytesLeft) {
        connection.chunk(Arrays.copyOf(event, bytesLeft));
        return End.CUT;
      }
      bytesLeft -= event.length;
      connection.chunk(event);
    }
    usageSent = true;
    Optional<End> atTheEnd = faultBefore(events.size());
    if (atTheEnd.isPresent()) {
      return atTheEnd.get();
    }
    if (!(fault.orElse(null) instanceof Fault.NoDone)) {
      connection.chunk(utf8("data: [DONE]\n\n"));
    }
    connection.endStream();
    return End.WELL;
  }

  /** What happens after so many events, if it ends the answer. */
  private Optional<End> faultBefore(int events) throws IOException {
    return switch (fault.orElse(null)) {
      case Fault.CutAfterEvents(int after, boolean reset) when after == events ->
          Optional.of(cut(reset));
      case Fault.EndAfterEvents(int after) when after == events -> {
        connection.endStream();
        yield Optional.of(End.WELL);
      }
      case Fault.Stall(int after, Duration time) when after == events ->
          connection.await(time) ? Optional.empty() : Optional.of(End.HUNG_UP);
      case Fault.InsertAfterEvents(int after, String text) when after == events -> {
        connection.chunk(utf8(text));
        connection.endStream();
        yield Optional.of(End.WELL);
      }
      case null, default -> Optional.empty();
    };
  }

  private End cut(boolean reset) throws IOException {
    if (reset) {
      connection.reset();
    }
    return End.CUT;
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
