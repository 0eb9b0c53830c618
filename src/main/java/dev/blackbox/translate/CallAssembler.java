package dev.blackbox.translate;

import dev.blackbox.wire.ChatToolDelta;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.MalformedJsonException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Puts the tool calls of one answer together from their pieces. Agents run a call as soon as they
 * have it, so a call is let out only when the answer has come to its end and the call is whole.
 *
 * <p>A piece belongs to the call of its index; without an index to the call of its id, else to the
 * last call. A new name together with a new id begins a new call even if the index was there before
 * (some engines give each call index 0). Without ids (Gemini's gives neither) a name begins a new
 * call if the arguments before are whole, and it is another name or more arguments come. The first
 * name and the first id count.
 */
final class CallAssembler {

  private static final int CALLS_MAX = 512;

  private static final class Draft {
    private final int index;
    private String id = "";
    private String name = "";
    private final StringBuilder arguments = new StringBuilder();

    private Draft(int index) {
      this.index = index;
    }
  }

  private final TranslatedRequest request;
  private final IdSource ids;
  private final String idPrefix;
  private final List<Draft> drafts = new ArrayList<>();

  CallAssembler(TranslatedRequest request, IdSource ids, String idPrefix) {
    this.request = request;
    this.ids = ids;
    this.idPrefix = idPrefix;
  }

  boolean isEmpty() {
    return drafts.isEmpty();
  }

  void add(ChatToolDelta piece) throws BrokenAnswerException {
    Draft draft = draftFor(piece);
    if (draft.id.isEmpty()) {
      draft.id = piece.id();
    }
    if (draft.name.isEmpty()) {
      draft.name = piece.name();
    }
    draft.arguments.append(piece.arguments());
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
        && object(draft.arguments.toString()) != null;
  }

  /** Whether a piece without an index begins a call, seen from the call before it. */
  private static boolean startsUnnumbered(ChatToolDelta piece, Draft last) {
    boolean otherId = !piece.id().isEmpty() && !last.id.isEmpty();
    boolean newName = !piece.name().isEmpty() && !last.name.isEmpty();
    return otherId || (newName && piece.id().isEmpty());
  }

  /**
   * The calls, in the order of their indexes.
   *
   * @param cutOff whether the answer hit its length limit: the calls that it cut are left out then,
   *     as they are in the dialects' own answers
   * @throws BrokenAnswerException if a call has no name, or arguments that are no JSON object
   */
  List<ToolCall> whole(boolean cutOff) throws BrokenAnswerException {
    List<Draft> ordered = new ArrayList<>(drafts);
    ordered.sort((a, b) -> Integer.compare(a.index, b.index));
    Set<String> taken = new HashSet<>(request.callIds());
    List<ToolCall> calls = new ArrayList<>();
    for (Draft draft : ordered) {
      String arguments = draft.arguments.toString();
      Map<String, @Nullable Object> input = object(arguments.isBlank() ? "{}" : arguments);
      boolean mayBeCut = cutOff && (input == null || arguments.isBlank() || draft.name.isEmpty());
      if (mayBeCut) {
        continue;
      }
      if (draft.name.isEmpty()) {
        throw new BrokenAnswerException("a tool call without a name");
      }
      if (input == null) {
        throw new BrokenAnswerException("a tool call whose arguments are no JSON object");
      }
      OriginalTool tool = request.tools().original(draft.name);
      if (tool.custom() && !(input.get(ResponsesTools.CUSTOM_INPUT) instanceof String)) {
        throw new BrokenAnswerException("a call of a custom tool without its text");
      }
      String id = draft.id;
      while (id.isEmpty() || !taken.add(id)) {
        id = ids.next(idPrefix);
      }
      calls.add(new ToolCall(id, tool, arguments.isBlank() ? "{}" : arguments, input));
    }
    return calls;
  }

  private static @Nullable Map<String, @Nullable Object> object(String text) {
    try {
      if (Json.parse(text) instanceof Map<?, ?> object) {
        Map<String, @Nullable Object> copy = new LinkedHashMap<>();
        object.forEach((key, value) -> copy.put(String.valueOf(key), value));
        return copy;
      }
      return null;
    } catch (MalformedJsonException broken) {
      return null;
    }
  }
}
