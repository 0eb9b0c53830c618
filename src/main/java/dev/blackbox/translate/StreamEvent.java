package dev.blackbox.translate;

import dev.blackbox.wire.Json;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One server-sent event of an answer in an agent's dialect.
 *
 * @param name the event's name, which its data repeats as {@code type}
 */
public record StreamEvent(String name, Map<String, @Nullable Object> data) {

  /** The event as it goes over the wire, with its empty line. */
  public byte[] toBytes() {
    byte[] start = ("event: " + name + "\ndata: ").getBytes(StandardCharsets.US_ASCII);
    byte[] json = Json.writeBytes(data);
    byte[] event = Arrays.copyOf(start, start.length + json.length + 2);
    System.arraycopy(json, 0, event, start.length, json.length);
    event[event.length - 2] = '\n';
    event[event.length - 1] = '\n';
    return event;
  }
}
