package dev.blackbox.translate;

import dev.blackbox.wire.Json;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One server-sent event of an answer in an agent's dialect.
 *
 * @param name the event's name, which its data repeats as {@code type}
 */
public record StreamEvent(String name, Map<String, @Nullable Object> data) {

  private static final byte[] BEFORE_NAME = ascii("event: ");
  private static final byte[] BEFORE_DATA = ascii("\ndata: ");
  private static final byte[] AFTER = ascii("\n\n");

  /** Writes the event as it goes over the wire, with its empty line. */
  public void writeTo(ByteArrayOutputStream out) {
    out.writeBytes(BEFORE_NAME);
    out.writeBytes(ascii(name));
    out.writeBytes(BEFORE_DATA);
    Json.writeTo(out, data);
    out.writeBytes(AFTER);
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
