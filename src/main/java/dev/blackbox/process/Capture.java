package dev.blackbox.process;

import dev.blackbox.process.ManagedProcess.Captured;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.locks.ReentrantLock;

/** The first and the last half of a stream, in memory that grows up to a bound. Thread-safe. */
final class Capture {

  private static final int FIRST_BYTES = 1024;

  /** Longest UTF-8 sequence, less the byte that begins it. */
  private static final int CONTINUATION_BYTES_MAX = 3;

  private final ReentrantLock lock = new ReentrantLock();
  private final int headMax;
  private final int tailMax;
  private byte[] head = new byte[0];
  private byte[] tail = new byte[0];
  private int headBytes;
  private long tailBytes;

  Capture(int bytesMax) {
    if (bytesMax < 2) {
      throw new IllegalArgumentException("bytesMax must be at least 2: " + bytesMax);
    }
    headMax = bytesMax / 2;
    tailMax = bytesMax - headMax;
  }

  void add(byte[] bytes, int count) {
    lock.lock();
    try {
      int toHead = Math.min(count, headMax - headBytes);
      if (toHead > 0) {
        head = grown(head, headBytes + toHead, headMax);
        System.arraycopy(bytes, 0, head, headBytes, toHead);
        headBytes += toHead;
      }
      addToTail(bytes, Math.max(toHead, 0), count);
    } finally {
      lock.unlock();
    }
  }

  /** The tail is a ring once it is full: byte n of it is at n modulo its size. */
  private void addToTail(byte[] bytes, int from, int end) {
    int start = Math.max(from, end - tailMax);
    tailBytes += start - from;
    tail = grown(tail, Math.min(tailMax, tailBytes + end - start), tailMax);
    while (start < end) {
      int at = (int) (tailBytes % tailMax);
      int count = Math.min(end - start, tailMax - at);
      System.arraycopy(bytes, start, tail, at, count);
      start += count;
      tailBytes += count;
    }
  }

  private static byte[] grown(byte[] array, long needed, int max) {
    if (needed <= array.length) {
      return array;
    }
    long size = Math.max(needed, Math.max(FIRST_BYTES, 2L * array.length));
    return java.util.Arrays.copyOf(array, (int) Math.min(max, size));
  }

  Captured snapshot() {
    lock.lock();
    try {
      int kept = (int) Math.min(tailBytes, tailMax);
      byte[] last = new byte[kept];
      for (int i = 0; i < kept; i++) {
        last[i] = tail[(int) ((tailBytes - kept + i) % tailMax)];
      }
      long dropped = tailBytes - kept;
      return dropped == 0 ? whole(last) : cut(last, dropped);
    } finally {
      lock.unlock();
    }
  }

  private Captured whole(byte[] last) {
    byte[] all = java.util.Arrays.copyOf(head, headBytes + last.length);
    System.arraycopy(last, 0, all, headBytes, last.length);
    return new Captured(new String(all, StandardCharsets.UTF_8), 0);
  }

  private Captured cut(byte[] last, long dropped) {
    int headEnd = borderBefore(head, headBytes);
    int tailStart = 0;
    while (tailStart < Math.min(last.length, CONTINUATION_BYTES_MAX)
        && isContinuation(last[tailStart])) {
      tailStart++;
    }
    long all = dropped + (headBytes - headEnd) + tailStart;
    String text =
        new String(head, 0, headEnd, StandardCharsets.UTF_8)
            + "\n[… "
            + all
            + " bytes left out …]\n"
            + new String(last, tailStart, last.length - tailStart, StandardCharsets.UTF_8);
    return new Captured(text, all);
  }

  /** Where the last whole character ends; an incomplete one after it is left out. */
  private static int borderBefore(byte[] bytes, int end) {
    int start = end - 1;
    while (start >= 0 && end - start <= CONTINUATION_BYTES_MAX && isContinuation(bytes[start])) {
      start--;
    }
    if (start < 0) {
      return end;
    }
    int lead = bytes[start] & 0xff;
    int length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    return length > end - start ? start : end;
  }

  private static boolean isContinuation(byte b) {
    return (b & 0xc0) == 0x80;
  }
}
