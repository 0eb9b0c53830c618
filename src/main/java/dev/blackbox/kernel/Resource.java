package dev.blackbox.kernel;

/**
 * Something with an end. Closing twice does nothing the second time, and closing throws nothing
 * checked.
 */
public interface Resource extends AutoCloseable {
  @Override
  void close();
}
