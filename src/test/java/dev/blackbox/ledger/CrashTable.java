package dev.blackbox.ledger;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;

/** What one part of the crash rig tried and found; prints a line of the table. */
public final class CrashTable {

  /** How much more than in every build is tried: {@code mvn verify -Pcrash} sets it. */
  public static final int SCALE = Integer.getInteger("crash.scale", 1);

  /** Points and seeds that a run has to have tried; by name, whichever tests it has. */
  private static final String LEAST = "crash.least";

  /** The same for a run of all tests: one of chosen tests ({@code -Dtest}) may have fewer. */
  private static final String LEAST_OF_ALL = "crash.least.of.all";

  private static final List<CrashTable> PRINTED = new CopyOnWriteArrayList<>();

  private final String part;
  private final List<String> violations = new ArrayList<>();
  private final List<Long> recoveryNanos = new ArrayList<>();
  private int seeds;
  private int points;
  private int kills;

  public CrashTable(String part) {
    this.part = part;
  }

  public void seed() {
    seeds++;
  }

  public void point() {
    points++;
  }

  /** A process was really killed, and what it left was opened. */
  public void kill() {
    kills(1);
  }

  /** So many were. */
  public void kills(int more) {
    kills += more;
  }

  public void recovered(Duration took) {
    recoveryNanos.add(took.toNanos());
  }

  public void violation(String what) {
    violations.add(what);
  }

  public List<String> violations() {
    return violations;
  }

  public int points() {
    return points;
  }

  /** A line of the table; from now on it counts in {@link #printAll}. */
  public void print() {
    PRINTED.add(this);
    System.out.println(line());
    violations.stream().limit(5).forEach(System.out::println);
  }

  /**
   * The whole table, in the order of its parts, and the sums.
   *
   * @throws AssertionError if too little was tried: JUnit and Surefire take it for a test that
   *     failed
   */
  static void printAll() {
    CrashTable sum = new CrashTable("all");
    for (CrashTable each : PRINTED) {
      sum.seeds += each.seeds;
      sum.points += each.points;
      sum.kills += each.kills;
      sum.violations.addAll(each.violations);
    }
    System.out.println("crash rig | the whole table");
    PRINTED.forEach(each -> System.out.println(each.line()));
    System.out.println(sum.line());
    requireEnough(sum.points + sum.seeds, least());
  }

  static void requireEnough(int tried, int least) {
    if (tried < least) {
      throw new AssertionError(
          "the crash rig tried only %,d points and seeds, and has to try %,d (-D%s)"
              .formatted(tried, least, LEAST));
    }
  }

  private static int least() {
    boolean all = System.getProperty("test") == null;
    return Integer.getInteger(LEAST, all ? Integer.getInteger(LEAST_OF_ALL, 0) : 0);
  }

  private String line() {
    return String.format(
        Locale.ROOT,
        "crash rig | %-38s | seeds %5d | points %6d | kills %3d | violations %d | recovery p50 %s"
            + " p99 %s",
        part,
        seeds,
        points,
        kills,
        violations.size(),
        percentile(50),
        percentile(99));
  }

  private String percentile(int of100) {
    if (recoveryNanos.isEmpty()) {
      return "-";
    }
    List<Long> sorted = recoveryNanos.stream().sorted().toList();
    int at = Math.min(sorted.size() - 1, sorted.size() * of100 / 100);
    return String.format(Locale.ROOT, "%.1f ms", sorted.get(at) / 1e6);
  }
}
