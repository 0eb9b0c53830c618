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
 */
final class CallAssembler {

  private final TranslatedRequest request;
  private final IdSource ids;
  private final String idPrefix;
  private final CallDrafts drafts = new CallDrafts();

  CallAssembler(TranslatedRequest request, IdSource ids, String idPrefix) {
    this.request = request;
    this.ids = ids;
    this.idPrefix = idPrefix;
  }

  boolean isEmpty() {
    return drafts.isEmpty();
  }

  void add(ChatToolDelta piece) throws BrokenAnswerException {
    CallDrafts.Draft _ = drafts.add(piece);
  }

  /**
   * The calls, in the order of their indexes.
   *
   * @param cutOff whether the answer hit its length limit: the calls that it cut are left out then,
   *     as they are in the dialects' own answers
   * @throws BrokenAnswerException if a call has no name, or arguments that are no JSON object
   */
  List<ToolCall> whole(boolean cutOff) throws BrokenAnswerException {
    List<CallDrafts.Draft> ordered = new ArrayList<>(drafts.all());
    ordered.sort((a, b) -> Integer.compare(a.index(), b.index()));
    Set<String> taken = new HashSet<>(request.callIds());
    List<ToolCall> calls = new ArrayList<>();
    for (CallDrafts.Draft draft : ordered) {
      String arguments = draft.arguments();
      Map<String, @Nullable Object> input = object(arguments.isBlank() ? "{}" : arguments);
      boolean mayBeCut = cutOff && (input == null || arguments.isBlank() || draft.name().isEmpty());
      if (mayBeCut) {
        continue;
      }
      if (draft.name().isEmpty()) {
        throw new BrokenAnswerException("a tool call without a name");
      }
      if (input == null) {
        throw new BrokenAnswerException("a tool call whose arguments are no JSON object");
      }
      OriginalTool tool = request.tools().original(draft.name());
      if (tool.custom() && !(input.get(ResponsesTools.CUSTOM_INPUT) instanceof String)) {
        throw new BrokenAnswerException("a call of a custom tool without its text");
      }
      String id = draft.id();
      while (id.isEmpty() || !taken.add(id)) {
        id = ids.next(idPrefix);
      }
      calls.add(new ToolCall(id, tool, arguments.isBlank() ? "{}" : arguments, input));
    }
    return calls;
  }

  /** Null if the text is no JSON object. */
  static @Nullable Map<String, @Nullable Object> object(String text) {
    try {
      if (Json.parseExactly(text) instanceof Map<?, ?> object) {
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
