package dev.blackbox.proxy;

/** Takes a text byte by byte, and where in a body each comes from. */
interface TextTaker {

  /**
   * @param value 0 to 255
   * @param start of what stands for it in the body
   * @param end after that
   */
  void take(int value, int start, int end);

  /** The text is over. */
  void end();
}
