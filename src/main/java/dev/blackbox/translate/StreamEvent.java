package dev.blackbox.translate;

import dev.blackbox.wire.Json;
import java.nio.charset.StandardCharsets;
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
    String text = "event: " + name + "\ndata: " + Json.write(data) + "\n\n";
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
