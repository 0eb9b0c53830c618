package dev.blackbox.kernel;

import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Owns resources and closes them newest first. A failure to close one does not keep the others
 * open: the first failure is thrown at the end, the later ones are suppressed in it. Not
 * thread-safe: one thread opens, and the same thread closes.
 */
public final class Closer implements Resource {

  private final Deque<Resource> owned = new ArrayDeque<>();

  /** Takes over {@code resource} and returns it. */
  public <T extends Resource> T own(T resource) {
    owned.push(resource);
    return resource;
  }

  @Override
  public void close() {
    @Nullable RuntimeException first = null;
    while (!owned.isEmpty()) {
      try {
        owned.pop().close();
      } catch (RuntimeException failure) {
        if (first == null) {
          first = failure;
        } else {
          first.addSuppressed(failure);
        }
      }
    }
    if (first != null) {
      throw first;
    }
  }
}
