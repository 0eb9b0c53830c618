package dev.blackbox.ledger;

import dev.blackbox.kernel.TurnId;
import dev.blackbox.ledger.LedgerFacts.TrimmedTurn;
import dev.blackbox.turn.TurnState;
import dev.blackbox.wire.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The large part of {@link Fact.SessionTrimmed}, as JSON: {@code {"bindings": [key, …], "gaps":
 * [[first, last, hash], …], "turns": [[turn_id, state, fingerprint], …]}}.
 *
 * @param bindings keys of the bindings that served it, all closed
 * @param gaps the facts that go, as few ranges as possible, in order
 * @param turns all of its turns, in order
 */
record TrimmedContent(List<Long> bindings, List<Gap> gaps, List<TrimmedTurn> turns) {

  /**
   * Facts that follow each other.
   *
   * @param last the last of them, with the hash that the chain goes on from
   */
  record Gap(long first, Chain last) {

    long count() {
      return last.sequence() - first + 1;
    }

    boolean holds(long sequence) {
      return first <= sequence && sequence <= last.sequence();
    }
  }

  /** How many facts go. */
  long facts() {
    return gaps.stream().mapToLong(Gap::count).sum();
  }

  /** The newest fact that goes. */
  long lastSequence() {
    return gaps.isEmpty() ? 0 : gaps.getLast().last.sequence();
  }

  String json() {
    Map<String, Object> tree = new LinkedHashMap<>();
    tree.put("bindings", bindings);
    tree.put(
        "gaps",
        gaps.stream()
            .map(gap -> List.of(gap.first, gap.last.sequence(), gap.last.hash()))
            .toList());
    tree.put(
        "turns",
        turns.stream()
            .map(
                turn -> List.of(turn.turnId().value(), turn.state().wireName(), turn.fingerprint()))
            .toList());
    return Json.write(tree);
  }

  static TrimmedContent of(String json) {
    Map<String, @Nullable Object> tree = Json.object(json);
    List<Gap> gaps = new ArrayList<>();
    for (List<?> gap : lists(tree.get("gaps"))) {
      gaps.add(
          new Gap(number(gap.get(0)), new Chain(number(gap.get(1)), String.valueOf(gap.get(2)))));
    }
    List<TrimmedTurn> turns = new ArrayList<>();
    for (List<?> turn : lists(tree.get("turns"))) {
      turns.add(
          new TrimmedTurn(
              new TurnId(String.valueOf(turn.get(0))),
              TurnState.ofWireName(String.valueOf(turn.get(1))),
              String.valueOf(turn.get(2))));
    }
    List<Long> bindings =
        tree.get("bindings") instanceof List<?> keys
            ? keys.stream().map(TrimmedContent::number).toList()
            : List.of();
    return new TrimmedContent(bindings, List.copyOf(gaps), List.copyOf(turns));
  }

  Optional<TrimmedTurn> turn(TurnId id) {
    return turns.stream().filter(turn -> turn.turnId().equals(id)).findFirst();
  }

  private static List<List<?>> lists(@Nullable Object list) {
    List<List<?>> all = new ArrayList<>();
    if (list instanceof List<?> elements) {
      for (Object element : elements) {
        if (element instanceof List<?> inner) {
          all.add(inner);
        }
      }
    }
    return all;
  }

  private static long number(@Nullable Object value) {
    return value instanceof Number number ? number.longValue() : 0;
  }
}
