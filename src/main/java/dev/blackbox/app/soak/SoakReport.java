package dev.blackbox.app.soak;

import com.google.errorprone.annotations.FormatMethod;
import dev.blackbox.app.Samples;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What came of a soak.
 *
 * @param ends how many turns ended how
 * @param comparisons answers and records that were held against the ones before
 * @param kills by phase
 * @param orderlyEnds how often the server was told to end, and did
 * @param readyAgain from the start of a process to {@code /readyz} saying yes, in milliseconds
 * @param first the server at its first readiness
 * @param last the server at the end
 * @param violation the first broken promise
 * @param kept the directory with the log, the server's log, the state and the agent's record
 */
public record SoakReport(
    Map<String, Integer> ends,
    int comparisons,
    Map<Phase, Integer> kills,
    int orderlyEnds,
    Samples readyAgain,
    Figures first,
    Figures last,
    Optional<String> violation,
    Path kept) {

  /**
   * The server at a moment.
   *
   * @param residentMegabytes its memory
   * @param handles its open files and sockets
   * @param stateBytes of the state directory
   */
  public record Figures(double residentMegabytes, long handles, long stateBytes) {
    static final Figures NONE = new Figures(0, 0, 0);
  }

  /** A table for people. */
  public List<String> lines() {
    int turns = ends.values().stream().mapToInt(Integer::intValue).sum();
    List<String> lines = new ArrayList<>();
    lines.add(row("turns", turns + " acknowledged: " + counts(ends)));
    lines.add(row("replays", comparisons + " answers and records equal to the ones before"));
    lines.add(row("kills", kills.isEmpty() ? "none" : counts(named(kills))));
    lines.add(row("orderly ends", String.valueOf(orderlyEnds)));
    lines.add(row("violations", violation.isPresent() ? "1" : "0"));
    lines.add(row("ready again", ready()));
    if (violation.isEmpty()) {
      figures(turns, lines);
    }
    return lines;
  }

  /** A soak that was broken off has none of its end. */
  private void figures(int turns, List<String> lines) {
    lines.add(
        row(
            "memory",
            text(
                "%.0f MB at the first readiness, %.0f MB at the end",
                first.residentMegabytes(), last.residentMegabytes())));
    lines.add(
        row(
            "file handles",
            text("%d at the first readiness, %d at the end", first.handles(), last.handles())));
    lines.add(
        row(
            "disk",
            text(
                "%d KB at the first readiness, %d KB at the end: %.1f KB a turn",
                first.stateBytes() / 1024,
                last.stateBytes() / 1024,
                (last.stateBytes() - first.stateBytes()) / 1024.0 / Math.max(1, turns))));
  }

  private String ready() {
    return readyAgain.count() == 0
        ? "never"
        : text(
            "p50 %.2f s, p99 %.2f s, max %.2f s, of %d starts",
            readyAgain.p50() / 1e3,
            readyAgain.p99() / 1e3,
            readyAgain.max() / 1e3,
            readyAgain.count());
  }

  private static Map<String, Integer> named(Map<Phase, Integer> kills) {
    return kills.entrySet().stream()
        .collect(
            Collectors.toMap(
                kill -> kill.getKey().words(),
                Map.Entry::getValue,
                Integer::sum,
                LinkedHashMap::new));
  }

  private static String counts(Map<String, Integer> counts) {
    return counts.entrySet().stream()
        .map(count -> count.getKey() + " " + count.getValue())
        .collect(Collectors.joining(", "));
  }

  private static String row(String title, String text) {
    return text("  %-13s %s", title, text);
  }

  @FormatMethod
  private static String text(String format, Object... values) {
    return String.format(Locale.ROOT, format, values);
  }
}
