package dev.blackbox.app;

import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleConsumer;

/** Durations of one kind, in milliseconds. Not thread-safe. The quantiles need a sample. */
public final class Samples {

  private final List<Double> millis = new ArrayList<>();

  /** Something that takes time. */
  @FunctionalInterface
  public interface Work {
    void run() throws Exception;
  }

  public void time(Work work) throws Exception {
    long started = System.nanoTime();
    work.run();
    add((System.nanoTime() - started) / 1e6);
  }

  public void add(double sampleMillis) {
    millis.add(sampleMillis);
  }

  public double p50() {
    return quantile(0.5);
  }

  public double p99() {
    return quantile(0.99);
  }

  public double max() {
    return quantile(1);
  }

  /** All of them, as they came. */
  public void forEach(DoubleConsumer reader) {
    millis.forEach(reader::accept);
  }

  public int count() {
    return millis.size();
  }

  private double quantile(double share) {
    List<Double> sorted = millis.stream().sorted().toList();
    return sorted.get((int) Math.min(sorted.size() - 1.0, Math.floor(share * sorted.size())));
  }
}
