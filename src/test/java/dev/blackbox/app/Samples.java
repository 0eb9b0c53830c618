package dev.blackbox.app;

import java.util.ArrayList;
import java.util.List;

/** Durations of one kind. */
final class Samples {

  private final List<Double> millis = new ArrayList<>();

  /** Something that takes time. */
  @FunctionalInterface
  interface Work {
    void run() throws Exception;
  }

  void time(Work work) throws Exception {
    long started = System.nanoTime();
    work.run();
    add((System.nanoTime() - started) / 1e6);
  }

  void add(double sampleMillis) {
    millis.add(sampleMillis);
  }

  double p50() {
    return quantile(0.5);
  }

  double p99() {
    return quantile(0.99);
  }

  private double quantile(double share) {
    List<Double> sorted = millis.stream().sorted().toList();
    return sorted.get((int) Math.min(sorted.size() - 1.0, Math.floor(share * sorted.size())));
  }
}
