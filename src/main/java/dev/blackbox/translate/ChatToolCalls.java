package dev.blackbox.translate;

import dev.blackbox.wire.ByteSlice;
import dev.blackbox.wire.ChatProgress;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.MalformedJsonException;
import dev.blackbox.wire.SseDecoder;
import dev.blackbox.wire.SseTooLongException;
import dev.blackbox.wire.ToolPiece;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The tool calls of an answer for an agent that speaks chat completions, too: held until the answer
 * has come to its end, and let out as they came if each is whole. What the engine's length limit
 * cut is left out, as in the other dialects. Arguments are whole if they are JSON; whether they fit
 * the tool is the agent's to judge.
 */
public final class ChatToolCalls {

  /** An event and the calls of its pieces, in their order; none if it only says the end. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Held(byte[] raw, List<Call> calls) {}

  private record Call(int choice, CallDrafts.Draft draft) {}

  private final Map<Integer, CallDrafts> byChoice = new HashMap<>();
  private final List<Held> held = new ArrayList<>();

  /**
   * Whether the engine gave up a choice that has come to its end.
   *
   * @throws BrokenAnswerException if it did
   */
  public static void requireGoodEnds(ChatProgress answer, int choices)
      throws BrokenAnswerException {
    for (int choice = 0; choice < choices; choice++) {
      Optional<String> reason = answer.finishReason(choice);
      if (reason.isPresent()) {
        FinishReason _ = FinishReason.of(reason.get());
      }
    }
  }

  /** Whether there is nothing to be let out. */
  public boolean isEmpty() {
    return held.isEmpty();
  }

  /**
   * Holds an event.
   *
   * @param raw its bytes as they came, which are copied
   * @param pieces what it says of tool calls
   * @throws BrokenAnswerException if there are too many calls
   */
  public void hold(ByteSlice raw, List<ToolPiece> pieces) throws BrokenAnswerException {
    held.add(new Held(raw.toBytes(), calls(pieces)));
  }

  private List<Call> calls(List<ToolPiece> pieces) throws BrokenAnswerException {
    List<Call> calls = new ArrayList<>();
    for (ToolPiece piece : pieces) {
      CallDrafts drafts = byChoice.computeIfAbsent(piece.choice(), _ -> new CallDrafts());
      calls.add(new Call(piece.choice(), drafts.add(piece.delta())));
    }
    return calls;
  }

  /**
   * Lets the held events out, in their order.
   *
   * @param answer how the choices came to their end
   * @throws BrokenAnswerException if a call is not whole, and no limit explains it
   */
  public List<byte[]> letOut(ChatProgress answer) throws BrokenAnswerException {
    Map<CallDrafts.Draft, Boolean> cut = new HashMap<>();
    for (Map.Entry<Integer, CallDrafts> choice : byChoice.entrySet()) {
      for (CallDrafts.Draft draft : choice.getValue().all()) {
        cut.put(draft, isCut(new Call(choice.getKey(), draft), answer));
      }
    }
    List<byte[]> out = new ArrayList<>();
    for (Held event : held) {
      List<Boolean> gone =
          event.calls().stream().map(call -> cut.getOrDefault(call.draft(), false)).toList();
      out.add(
          gone.contains(true)
              ? ChatDialect.event(without(dataOf(event.raw()), "delta", gone))
              : event.raw());
    }
    held.clear();
    return out;
  }

  /**
   * A whole plain answer: as it is, unless the length limit cut a call.
   *
   * @param answer what it says
   * @throws BrokenAnswerException as {@link #letOut}
   */
  public static byte[] ofAnswer(byte[] body, ChatProgress answer) throws BrokenAnswerException {
    List<Boolean> gone = new ArrayList<>();
    for (Call call : new ChatToolCalls().calls(answer.toolPieces())) {
      gone.add(isCut(call, answer));
    }
    return gone.contains(true)
        ? Json.writeBytes(without(ByteSlice.of(body), "message", gone))
        : body;
  }

  private static boolean isCut(Call call, ChatProgress answer) throws BrokenAnswerException {
    Optional<String> reason = answer.finishReason(call.choice());
    boolean cutOff = reason.isPresent() && FinishReason.of(reason.get()) == FinishReason.LENGTH;
    String arguments = call.draft().arguments();
    if (arguments.isBlank()) {
      // A tool without parameters, or a custom tool, whose text is free.
      return cutOff;
    }
    boolean named = !call.draft().name().isEmpty();
    if (named && isJson(arguments)) {
      return false;
    }
    if (!cutOff) {
      throw new BrokenAnswerException(
          named ? "a tool call whose arguments are no JSON" : "a tool call without a name");
    }
    return true;
  }

  private static boolean isJson(String text) {
    try {
      Object _ = Json.parse(text);
      return true;
    } catch (MalformedJsonException _) {
      return false;
    }
  }

  private static ByteSlice dataOf(byte[] event) throws BrokenAnswerException {
    SseDecoder decoder = new SseDecoder(event.length);
    decoder.append(event, 0, event.length);
    try {
      SseDecoder.Event read = decoder.next();
      if (read != null && read.data() != null) {
        return read.data();
      }
    } catch (SseTooLongException impossible) {
      throw new IllegalStateException("an event is longer than itself", impossible);
    }
    throw new BrokenAnswerException("an event without data");
  }

  /** The same answer or chunk without the calls that are gone. */
  private static @Nullable Object without(ByteSlice json, String messageKey, List<Boolean> gone) {
    Object tree = exactly(json);
    Iterator<Boolean> isGone = gone.iterator();
    if (tree instanceof Map<?, ?> answer && answer.get("choices") instanceof List<?> choices) {
      for (Object choice : choices) {
        if (choice instanceof Map<?, ?> one && one.get(messageKey) instanceof Map<?, ?> message) {
          leaveOut(message, isGone);
        }
      }
    }
    return tree;
  }

  private static @Nullable Object exactly(ByteSlice read) {
    try {
      return Json.parseExactly(read.toBytes());
    } catch (MalformedJsonException impossible) {
      throw new IllegalStateException("JSON that was read before", impossible);
    }
  }

  private static void leaveOut(Map<?, ?> message, Iterator<Boolean> isGone) {
    if (message.get("tool_calls") instanceof List<?> calls && !calls.isEmpty()) {
      calls.removeIf(_ -> isGone.next());
      if (calls.isEmpty()) {
        message.remove("tool_calls");
      }
    } else if (message.get("function_call") instanceof Map<?, ?> && isGone.next()) {
      message.remove("function_call");
    }
  }
}
