package dev.blackbox.wire;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Cuts a byte stream of server-sent events into events, however the network cut it: lines may end
 * with LF, CR or CRLF, {@code data:} may come with or without a space and on several lines,
 * comments and unknown fields are passed over. Works on bytes, so a character that is split between
 * two reads is no concern. Source: WHATWG HTML, "Server-sent events", section 9.2.6.
 *
 * <p>Use: {@link #append} what was read, then {@link #next} until it answers null. Not thread-safe.
 */
public final class SseDecoder {

  private static final int BUFFER_BYTES_FIRST = 8 << 10;
  private static final byte[] DATA = {'d', 'a', 't', 'a'};

  private final int eventBytesMax;
  private byte[] buffer = new byte[BUFFER_BYTES_FIRST];
  private int end;

  /** Where the event begins that is not yet whole. */
  private int eventStart;

  private int lineStart;
  private int position;

  /** The last line ended with the CR that was the last byte so far; an LF now belongs to it. */
  private boolean lineFeedMayFollow;

  private boolean atStreamStart = true;

  /**
   * @param eventBytesMax longest event that is taken
   */
  public SseDecoder(int eventBytesMax) {
    this.eventBytesMax = eventBytesMax;
  }

  /**
   * One event.
   *
   * @param raw the event as it came, up to and with its empty line; the raws of successive events
   *     lie next to each other in one array
   * @param data its data, lines joined by LF; null if it has none (a comment, or an empty line)
   */
  public record Event(ByteSlice raw, @Nullable ByteSlice data) {

    /** False for comments, empty lines and events with blank data, which say nothing. */
    public boolean hasContent() {
      return data != null && !data.isBlank();
    }
  }

  /** Takes over what was read. Events given out before are void from now on. */
  public void append(byte[] bytes, int offset, int length) {
    if (end + length > buffer.length) {
      makeRoom(length);
    }
    System.arraycopy(bytes, offset, buffer, end, length);
    end += length;
  }

  /**
   * The next whole event, or null if more bytes are needed.
   *
   * @throws SseTooLongException if the event is longer than the bound
   */
  public @Nullable Event next() throws SseTooLongException {
    while (position < end) {
      byte b = buffer[position];
      if (lineFeedMayFollow) {
        lineFeedMayFollow = false;
        if (b == '\n') {
          position++;
          lineStart = position;
          continue;
        }
      }
      if (b != '\n' && b != '\r') {
        position++;
        continue;
      }
      boolean emptyLine = position == lineStart;
      endLine(b);
      if (emptyLine) {
        Event event = eventUpTo(position);
        eventStart = position;
        return event;
      }
    }
    if (end - eventStart > eventBytesMax) {
      throw new SseTooLongException(eventBytesMax);
    }
    return null;
  }

  /**
   * At the end of the stream: what came after the last empty line, or null if there is nothing.
   * Only some senders forget the last empty line.
   */
  public @Nullable Event rest() {
    if (eventStart == end) {
      return null;
    }
    Event event = eventUpTo(end);
    eventStart = end;
    return event;
  }

  private void endLine(byte terminator) {
    position++;
    if (terminator == '\r') {
      if (position == end) {
        lineFeedMayFollow = true;
      } else if (buffer[position] == '\n') {
        position++;
      }
    }
    lineStart = position;
  }

  private Event eventUpTo(int eventEnd) {
    @Nullable ByteSlice first = null;
    @Nullable ByteArrayOutputStream joined = null;
    int line = eventStart + byteOrderMarkLength();
    while (line < eventEnd) {
      int lineEnd = line;
      while (lineEnd < eventEnd && buffer[lineEnd] != '\n' && buffer[lineEnd] != '\r') {
        lineEnd++;
      }
      @Nullable ByteSlice data = dataOf(line, lineEnd);
      if (data != null && first == null) {
        first = data;
      } else if (data != null && first != null) {
        if (joined == null) {
          joined = new ByteArrayOutputStream();
          joined.write(first.array(), first.start(), first.length());
        }
        joined.write('\n');
        joined.write(data.array(), data.start(), data.length());
      }
      boolean crLf =
          lineEnd + 1 < eventEnd && buffer[lineEnd] == '\r' && buffer[lineEnd + 1] == '\n';
      line = lineEnd + (crLf ? 2 : 1);
    }
    atStreamStart = false;
    ByteSlice raw = new ByteSlice(buffer, eventStart, eventEnd);
    return new Event(raw, joined == null ? first : ByteSlice.of(joined.toByteArray()));
  }

  private int byteOrderMarkLength() {
    boolean mark =
        atStreamStart
            && end - eventStart >= 3
            && buffer[eventStart] == (byte) 0xEF
            && buffer[eventStart + 1] == (byte) 0xBB
            && buffer[eventStart + 2] == (byte) 0xBF;
    return mark ? 3 : 0;
  }

  private @Nullable ByteSlice dataOf(int line, int lineEnd) {
    int afterName = line + DATA.length;
    if (lineEnd < afterName
        || !Arrays.equals(buffer, line, afterName, DATA, 0, DATA.length)
        || (lineEnd > afterName && buffer[afterName] != ':')) {
      return null;
    }
    int value = Math.min(afterName + 1, lineEnd);
    if (value < lineEnd && buffer[value] == ' ') {
      value++;
    }
    return new ByteSlice(buffer, value, lineEnd);
  }

  /** Moves the unfinished event to the front, into a larger array if need be. */
  private void makeRoom(int length) {
    int kept = end - eventStart;
    byte[] target = kept + length > buffer.length ? new byte[2 * (kept + length)] : buffer;
    System.arraycopy(buffer, eventStart, target, 0, kept);
    buffer = target;
    end = kept;
    position -= eventStart;
    lineStart -= eventStart;
    eventStart = 0;
  }
}
