package dev.blackbox.proxy;

import java.util.Arrays;
import java.util.BitSet;

/**
 * Looks for secrets in a text whose bytes come one by one from anywhere in a body, and marks where
 * in the body they came from. Knows the secrets of a {@link SecretTrie}, and by their form all keys
 * that this program ever made ({@code bbs-}, letters, 64 hexadecimal digits), also those of other
 * boots.
 */
final class SecretScan implements TextTaker {

  private static final byte[] MADE_PREFIX = {'b', 'b', 's', '-'};
  private static final int MADE_DIGITS = 64;

  /** A longer one is none: prefix, name, and twice a hyphen and digits. */
  private static final int MADE_LENGTH_MAX = 160;

  /** Fewer bytes of a secret, at the end of what was cut, say nothing. */
  private static final int PART_BYTES_MIN = 4;

  private static final int PLACES_FIRST = 16;

  private final SecretTrie secrets;
  private final BitSet found;
  private int node = SecretTrie.START;

  /** Bytes of what may be a key that was made, the last one included. */
  private int made;

  private int madeDigits;

  /** Where the last bytes came from, as many as may matter; a ring, as long as a power of two. */
  private int[] starts = new int[PLACES_FIRST];

  private int[] ends = new int[PLACES_FIRST];
  private int newest = -1;

  /**
   * @param found the bytes of the body that belong to secrets; added to
   */
  SecretScan(SecretTrie secrets, BitSet found) {
    this.secrets = secrets;
    this.found = found;
  }

  @Override
  public void take(int value, int start, int end) {
    node = secrets.step(node, value);
    stepMade(value);
    int needed = Math.max(secrets.depth(node), made);
    if (needed == 0) {
      return;
    }
    if (needed > starts.length) {
      grow();
    }
    newest = newest + 1 & starts.length - 1;
    starts[newest] = start;
    ends[newest] = end;
    mark(secrets.ending(node));
    if (madeDigits >= MADE_DIGITS) {
      mark(made);
    }
  }

  /** A secret that has begun here and was cut is one, too. */
  @Override
  public void end() {
    if (secrets.depth(node) >= PART_BYTES_MIN) {
      mark(secrets.depth(node));
    }
    node = SecretTrie.START;
    made = 0;
    madeDigits = 0;
  }

  private void stepMade(int value) {
    if (made < MADE_PREFIX.length) {
      if (value == MADE_PREFIX[made]) {
        made++;
      } else if (value == MADE_PREFIX[0]) {
        made = made == 2 ? 2 : 1;
      } else {
        made = 0;
      }
      return;
    }
    boolean whole = madeDigits >= MADE_DIGITS;
    boolean digit = (value >= '0' && value <= '9') || (value >= 'a' && value <= 'f');
    // Of a whole one, what follows belongs to it if it can: a turn's key has a second part.
    boolean goesOn = digit || value == '-' || (!whole && value >= 'a' && value <= 'z');
    if (!goesOn || made >= MADE_LENGTH_MAX) {
      made = value == MADE_PREFIX[0] ? 1 : 0;
      madeDigits = 0;
      return;
    }
    made++;
    if (!whole) {
      madeDigits = digit ? madeDigits + 1 : 0;
    }
  }

  private void mark(int last) {
    for (int back = 0; back < last; back++) {
      int place = newest - back & starts.length - 1;
      found.set(starts[place], ends[place]);
    }
  }

  private void grow() {
    int length = starts.length;
    int[] moreStarts = Arrays.copyOf(starts, 2 * length);
    int[] moreEnds = Arrays.copyOf(ends, 2 * length);
    for (int back = 0; back < length; back++) {
      int from = newest - back & length - 1;
      moreStarts[length - 1 - back] = starts[from];
      moreEnds[length - 1 - back] = ends[from];
    }
    starts = moreStarts;
    ends = moreEnds;
    newest = length - 1;
  }
}
