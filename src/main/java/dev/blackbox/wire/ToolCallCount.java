package dev.blackbox.wire;

import java.util.HashMap;
import java.util.Map;

/**
 * Counts the tool calls of one answer by their pieces. A call begins at an index that is new; where
 * an engine gives all calls one index, or none, at a name with an id that is new, or, without ids,
 * at a name once the call before has its arguments.
 */
final class ToolCallCount {

  /** The last call of one index, as far as it is known. */
  private record Last(String id, String name, boolean hasArguments) {}

  private final Map<String, Last> lastByIndex = new HashMap<>();
  private int count;

  int value() {
    return count;
  }

  void add(ToolPiece piece) {
    ChatToolDelta delta = piece.delta();
    String index = piece.choice() + "/" + delta.index();
    Last last = lastByIndex.get(index);
    boolean begins = last == null || begins(delta, last);
    if (begins) {
      count++;
    }
    boolean hasArguments = !delta.arguments().isBlank();
    lastByIndex.put(
        index,
        begins || last == null
            ? new Last(delta.id(), delta.name(), hasArguments)
            : new Last(
                last.id().isEmpty() ? delta.id() : last.id(),
                last.name().isEmpty() ? delta.name() : last.name(),
                last.hasArguments() || hasArguments));
  }

  private static boolean begins(ChatToolDelta delta, Last last) {
    if (delta.name().isEmpty() || last.name().isEmpty()) {
      return false;
    }
    if (!delta.id().isEmpty()) {
      return !last.id().isEmpty() && !delta.id().equals(last.id());
    }
    boolean saysMore =
        !delta.name().equals(last.name()) || delta.arguments().stripLeading().startsWith("{");
    return last.hasArguments() && saysMore;
  }
}
