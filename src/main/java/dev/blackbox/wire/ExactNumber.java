package dev.blackbox.wire;

/**
 * A number as its JSON text says it: more digits than a double has, an exponent beyond any, {@code
 * -0}, {@code 1.0}. It is written as it was read, so that it costs no more than its text.
 */
final class ExactNumber extends Number {

  private static final long serialVersionUID = 1L;

  private final String text;

  /**
   * @param text a JSON number
   */
  ExactNumber(String text) {
    this.text = text;
  }

  @Override
  public int intValue() {
    return (int) doubleValue();
  }

  @Override
  public long longValue() {
    return (long) doubleValue();
  }

  @Override
  public float floatValue() {
    return Float.parseFloat(text);
  }

  /** The nearest double, which is infinite for what is beyond all. */
  @Override
  public double doubleValue() {
    return Double.parseDouble(text);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ExactNumber number && number.text.equals(text);
  }

  @Override
  public int hashCode() {
    return text.hashCode();
  }

  /** The JSON text. */
  @Override
  public String toString() {
    return text;
  }
}
