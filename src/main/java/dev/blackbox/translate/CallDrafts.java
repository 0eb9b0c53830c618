package dev.blackbox.translate;

import dev.blackbox.wire.ChatToolDelta;
import java.util.ArrayList;
import java.util.List;

/**
 * The tool calls of one choice, as far as their pieces have come.
 *
 * <p>A piece belongs to the call of its index; without an index to the call of its id, else to the
 * last call. A new name together with a new id begins a new call even if the index was there before
 * (some engines give each call index 0). Without ids (Gemini's gives neither) a name begins a new
 * call if the arguments before are whole, and it is another name or more arguments come. The first
 * name and the first id count.
 */
final class CallDrafts {

  private static final int CALLS_MAX = 512;

  /** One call; strings are empty where nothing was said yet. */
  static final class Draft {
    private final int index;
    private String id = "";
    private String name = "";
    private final StringBuilder arguments = new StringBuilder();

    private Draft(int index) {
      this.index = index;
    }

    int index() {
      return index;
    }

    String id() {
      return id;
    }

    String name() {
      return name;
    }

    /** The JSON text so far. */
    String arguments() {
      return arguments.toString();
    }
  }

  private final List<Draft> drafts = new ArrayList<>();

  boolean isEmpty() {
    return drafts.isEmpty();
  }

  /** In the order in which they were begun. */
  List<Draft> all() {
    return List.copyOf(drafts);
  }

  /**
   * The call that a piece belongs to, with the piece in it.
   *
   * @throws BrokenAnswerException if there are too many calls
   */
  Draft add(ChatToolDelta piece) throws BrokenAnswerException {
    Draft draft = draftFor(piece);
    if (draft.id.isEmpty()) {
      draft.id = piece.id();
    }
    if (draft.name.isEmpty()) {
      draft.name = piece.name();
    }
    draft.arguments.append(piece.arguments());
    return draft;
  }

  private Draft draftFor(ChatToolDelta piece) throws BrokenAnswerException {
    boolean beginsAnother = !piece.id().isEmpty() && !piece.name().isEmpty();
    for (int i = drafts.size() - 1; i >= 0; i--) {
      Draft draft = drafts.get(i);
      boolean sameIndex = piece.index().isPresent() && piece.index().getAsInt() == draft.index;
      boolean otherId =
          !piece.id().isEmpty() && !draft.id.isEmpty() && !piece.id().equals(draft.id);
      boolean sameId = !piece.id().isEmpty() && piece.id().equals(draft.id);
      boolean last = i == drafts.size() - 1;
      boolean another =
          (beginsAnother && otherId && !draft.name.isEmpty()) || followsWhole(piece, draft);
      if (sameIndex && !another) {
        return draft;
      }
      if (piece.index().isEmpty() && (sameId || (last && !startsUnnumbered(piece, draft)))) {
        return draft;
      }
    }
    if (drafts.size() >= CALLS_MAX) {
      throw new BrokenAnswerException("more than " + CALLS_MAX + " tool calls in one answer");
    }
    Draft draft = new Draft(piece.index().orElse(drafts.size()));
    drafts.add(draft);
    return draft;
  }

  /** Two names, or two whole objects of arguments, are never those of one call. */
  private static boolean followsWhole(ChatToolDelta piece, Draft draft) {
    boolean saysMore =
        !piece.name().equals(draft.name) || piece.arguments().stripLeading().startsWith("{");
    return piece.id().isEmpty()
        && !piece.name().isEmpty()
        && !draft.name.isEmpty()
        && saysMore
        && CallAssembler.object(draft.arguments()) != null;
  }

  /** Whether a piece without an index begins a call, seen from the call before it. */
  private static boolean startsUnnumbered(ChatToolDelta piece, Draft last) {
    boolean otherId = !piece.id().isEmpty() && !last.id.isEmpty();
    boolean newName = !piece.name().isEmpty() && !last.name.isEmpty();
    return otherId || (newName && piece.id().isEmpty());
  }
}
