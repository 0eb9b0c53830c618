package dev.blackbox.wire;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A part of an array, without a copy. Whoever made it says how long the array stays as it is.
 *
 * @param start first index
 * @param end index after the last
 */
@SuppressWarnings("ArrayRecordComponent") // a view; never compared
public record ByteSlice(byte[] array, int start, int end) {

  public static ByteSlice of(byte[] whole) {
    return new ByteSlice(whole, 0, whole.length);
  }

  public int length() {
    return end - start;
  }

  /** True if there is nothing but spaces, tabs and line ends. */
  public boolean isBlank() {
    for (int i = start; i < end; i++) {
      if (array[i] != ' ' && array[i] != '\t' && array[i] != '\n' && array[i] != '\r') {
        return false;
      }
    }
    return true;
  }

  /** True if these are the bytes of {@code ascii}, apart from spaces around them. */
  public boolean trimmedEquals(String ascii) {
    return toString().strip().equals(ascii);
  }

  /** A copy. */
  public byte[] toBytes() {
    return Arrays.copyOfRange(array, start, end);
  }

  /** The bytes as UTF-8. */
  @Override
  public String toString() {
    return new String(array, start, end - start, StandardCharsets.UTF_8);
  }
}
