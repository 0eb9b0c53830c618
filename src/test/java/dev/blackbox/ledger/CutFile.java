package dev.blackbox.ledger;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * One file of a disk that can lose its power: what everybody sees, what was forced, and what was
 * only written since. Not thread-safe; {@link CutDisk} guards it.
 */
final class CutFile {

  /** The smallest unit that a disk writes whole or not at all. */
  static final int SECTOR_BYTES = 512;

  static final int PAGE_BYTES = 4096;

  /**
   * A write, or a cut to a length if there are no bytes. A lost one is seen by everybody and never
   * reaches the disk, whatever is forced later: what a failed force leaves behind.
   */
  private static final class Change {
    final long at;
    final byte[] bytes;
    final boolean isCut;
    final boolean lost;

    Change(long at, byte[] bytes, boolean isCut, boolean lost) {
      this.at = at;
      this.bytes = bytes;
      this.isCut = isCut;
      this.lost = lost;
    }

    long end() {
      return at + bytes.length;
    }
  }

  private byte[] visible;
  private byte[] durable;
  private List<Change> pending = new ArrayList<>();

  /** Nothing of it is on the disk yet, or all. */
  CutFile(byte[] content, boolean isDurable) {
    visible = content;
    durable = isDurable ? content : new byte[0];
    if (!isDurable && content.length > 0) {
      pending.add(new Change(0, content, false, false));
    }
  }

  byte[] visible() {
    return visible;
  }

  void write(long at, byte[] bytes) {
    Change change = new Change(at, bytes, false, false);
    visible = applied(visible, change);
    pending.add(change);
  }

  void cut(long size) {
    Change change = new Change(size, new byte[0], true, false);
    visible = applied(visible, change);
    pending.add(change);
  }

  void force() {
    for (Change change : pending) {
      if (!change.lost) {
        durable = applied(durable, change);
      }
    }
    pending.clear();
  }

  /** Some of what it had to write is dropped, and counted as written from now on. */
  void failForce(Random random) {
    List<Change> left = new ArrayList<>();
    for (Change change : pending) {
      left.add(new Change(change.at, change.bytes, change.isCut, random.nextBoolean()));
    }
    pending = left;
  }

  /**
   * What is found after the power went. Each unit of what was not forced is there in one of the
   * versions that it had, or zero if it never had a forced one; the length is an old or a new one.
   */
  byte[] afterCut(Random random) {
    if (pending.isEmpty()) {
      return durable;
    }
    List<Change> kept = pending.stream().filter(change -> !change.lost).toList();
    int unit = random.nextBoolean() ? PAGE_BYTES : SECTOR_BYTES;
    // Disks are not always as bad as they can be: some cuts lose all, some nearly nothing.
    int keepOf8 = random.nextInt(9);
    int longest = Math.max(visible.length, durable.length);
    Found found = new Found(durable, longest + unit);
    for (int start = 0; start < longest; start += unit) {
      unitAfterCut(random, found, kept, start, unit, keepOf8);
    }
    return withLength(random, Arrays.copyOf(found.bytes, found.length));
  }

  /** What is found, in the making: {@code bytes} has room behind {@code length}, of zeros. */
  private static final class Found {
    final byte[] bytes;
    int length;

    Found(byte[] durable, int room) {
      bytes = Arrays.copyOf(durable, room);
      length = durable.length;
    }

    void put(byte[] from, int offset, int at, int count) {
      System.arraycopy(from, offset, bytes, at, count);
      length = Math.max(length, at + count);
    }
  }

  private void unitAfterCut(
      Random random, Found found, List<Change> changes, int start, int unit, int keepOf8) {
    List<Change> here =
        changes.stream()
            .filter(
                change -> change.isCut ? change.at < start + unit : touches(change, start, unit))
            .toList();
    if (here.isEmpty()) {
      return;
    }
    int version = random.nextInt(8) < keepOf8 ? here.size() : random.nextInt(here.size() + 1);
    if (version == 0 && keepOf8 < 8 && start >= durable.length && random.nextBoolean()) {
      found.put(new byte[unit], 0, start, unit);
      return;
    }
    for (Change change : here.subList(0, version)) {
      if (change.isCut) {
        zero(found, change, start, unit);
      } else {
        int from = (int) Math.max(change.at, start);
        int to = (int) Math.min(change.end(), start + unit);
        found.put(change.bytes, (int) (from - change.at), from, to - from);
      }
    }
  }

  private static boolean touches(Change change, int start, int unit) {
    return change.at < start + unit && change.end() > start;
  }

  private static void zero(Found found, Change cut, int start, int unit) {
    int from = (int) Math.max(cut.at, start);
    if (from < found.length) {
      Arrays.fill(found.bytes, from, Math.min(found.length, start + unit), (byte) 0);
    }
  }

  private byte[] withLength(Random random, byte[] found) {
    int length =
        switch (random.nextInt(3)) {
          case 0 -> visible.length;
          case 1 -> Math.max(Math.min(durable.length, visible.length), lastByte(found));
          default -> found.length;
        };
    // What was forced is never cut off by less than a cut that was asked for.
    int least = pending.stream().anyMatch(change -> change.isCut) ? 0 : durable.length;
    return Arrays.copyOf(found, Math.max(length, least));
  }

  private static int lastByte(byte[] bytes) {
    int length = bytes.length;
    while (length > 0 && bytes[length - 1] == 0) {
      length--;
    }
    return length;
  }

  private static byte[] applied(byte[] file, Change change) {
    if (change.isCut) {
      return change.at < file.length ? Arrays.copyOf(file, (int) change.at) : file;
    }
    byte[] result =
        change.end() > file.length ? Arrays.copyOf(file, (int) change.end()) : file.clone();
    System.arraycopy(change.bytes, 0, result, (int) change.at, change.bytes.length);
    return result;
  }
}
