package dev.blackbox.wire;

import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonProcessingException;
import java.io.IOException;

/**
 * Input that is not JSON, or is too deep. The message says what was wrong and where, and never
 * repeats the input.
 */
public final class MalformedJsonException extends Exception {

  private final long byteOffset;

  private MalformedJsonException(String message, long byteOffset) {
    super(message);
    this.byteOffset = byteOffset;
  }

  static MalformedJsonException from(IOException cause) {
    if (cause instanceof JsonProcessingException json) {
      JsonLocation at = json.getLocation();
      if (at != null) {
        long offset = Math.max(at.getByteOffset(), at.getCharOffset());
        return new MalformedJsonException(
            "not valid JSON at line " + at.getLineNr() + ", column " + at.getColumnNr(), offset);
      }
    }
    return new MalformedJsonException("not valid JSON", 0);
  }

  static MalformedJsonException notAnObject() {
    return because("not a JSON object");
  }

  static MalformedJsonException because(String what) {
    return new MalformedJsonException(what, 0);
  }

  /** Where the input stopped being JSON, counted from 0. */
  public long byteOffset() {
    return byteOffset;
  }
}
