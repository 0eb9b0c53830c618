package dev.blackbox.proxy;

/** The visit was ended while its thread was at work. */
final class VisitEndedException extends Exception {

  private final Visit.Ending ending;

  VisitEndedException(Visit.Ending ending) {
    super(ending.name(), null, false, false);
    this.ending = ending;
  }

  Visit.Ending ending() {
    return ending;
  }
}
