package dev.blackbox.translate;

import dev.blackbox.wire.ChatChunk;
import dev.blackbox.wire.ChatStreamEvent;
import dev.blackbox.wire.ChatToolDelta;
import dev.blackbox.wire.ChatUsage;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Turns an engine's stream into the events of an agent's dialect, event by event:
 *
 * <pre>
 * NEW ─start, first chunk─▶ OPEN ─finish reason─▶ FINISHED ─[DONE], end─▶ COMPLETE
 *  └──────────┴── error, broken chunk, end without a finish reason ──┴──▶ FAILED
 * </pre>
 *
 * <p>Text and thinking go out as they come. Tool calls go out whole, once the finish reason says
 * that the answer is. The usage goes out last, since engines send it after the finish reason. After
 * COMPLETE or FAILED nothing comes out any more. Not thread-safe.
 */
public abstract sealed class DialectStream permits AnthropicStream, ResponsesStream {

  /** Where a stream stands. */
  public enum State {
    NEW,
    OPEN,
    FINISHED,
    COMPLETE,
    FAILED
  }

  /** Longest answer that is translated, in UTF-16 units. */
  static final long ANSWER_CHARACTERS_MAX = 32L << 20;

  private static final String VOID_ID = "rollout-invalidated";

  private enum Part {
    REASONING,
    TEXT,
    REFUSAL
  }

  final TranslatedRequest request;
  final IdSource ids;
  private final CallAssembler calls;
  private State state = State.NEW;
  private ChatUsage usage = ChatUsage.UNKNOWN;
  private long characters;

  /** The first half of a character, of the part that was said last; most often empty. */
  private String half = "";

  private Part halfOf = Part.TEXT;
  private Optional<AgentFailure> failure = Optional.empty();

  DialectStream(TranslatedRequest request, IdSource ids, String callIdPrefix) {
    this.request = request;
    this.ids = ids;
    this.calls = new CallAssembler(request, ids, callIdPrefix);
  }

  public final State state() {
    return state;
  }

  /** What the agent was told, in the state FAILED. */
  public final Optional<AgentFailure> failure() {
    return failure;
  }

  /**
   * The opening events, if they are not out; for an answer that must be begun before its engine.
   */
  public final List<StreamEvent> start() {
    List<StreamEvent> out = new ArrayList<>();
    open("", "", 0, out);
    return out;
  }

  /** Takes one event of the engine. */
  public final List<StreamEvent> accept(ChatStreamEvent event) {
    return switch (event) {
      case ChatStreamEvent.Chunk(var chunk) -> chunk(chunk);
      case ChatStreamEvent.Failure(var frame) -> fail(EngineErrors.failureOf(frame));
      case ChatStreamEvent.Done _ -> end();
    };
  }

  /** The engine's stream is over, whether it said so or not. */
  public final List<StreamEvent> end() {
    List<StreamEvent> out = new ArrayList<>();
    if (state == State.FINISHED) {
      complete(Tokens.of(usage, request, characters), out);
      state = State.COMPLETE;
    } else if (!isOver()) {
      fail("the engine's stream ended without a finish reason", out);
    }
    return out;
  }

  /** Ends the answer with an error. */
  public final List<StreamEvent> fail(AgentFailure told) {
    List<StreamEvent> out = new ArrayList<>();
    if (!isOver()) {
      failed(told, out);
      failure = Optional.of(told);
      state = State.FAILED;
    }
    return out;
  }

  /** Ends the answer of a void rollout quietly, as the reference server does. */
  public final List<StreamEvent> endVoid() {
    List<StreamEvent> out = new ArrayList<>();
    if (isOver()) {
      return out;
    }
    open(VOID_ID, "", 0, out);
    if (state == State.OPEN) {
      finish(FinishReason.STOP, List.of(), Optional.empty(), out);
    }
    complete(Tokens.of(ChatUsage.NONE, request, 0), out);
    state = State.COMPLETE;
    return out;
  }

  /** What this agent counts as life while the engine is silent. Nothing once the answer is over. */
  public final List<StreamEvent> keepAlive() {
    List<StreamEvent> out = new ArrayList<>();
    if (!isOver()) {
      alive(out);
    }
    return out;
  }

  private List<StreamEvent> chunk(ChatChunk chunk) {
    List<StreamEvent> out = new ArrayList<>();
    if (isOver()) {
      return out;
    }
    try {
      open(chunk.id(), chunk.model(), chunk.createdSeconds(), out);
      if (state == State.OPEN) {
        content(chunk, out);
      } else if (Tokens.characters(chunk) > 0) {
        // Its calls may be running already, so nothing can be added; and it is not to look whole.
        throw new BrokenAnswerException("the engine went on after its finish reason");
      }
      chunk
          .usage()
          .filter(reported -> !reported.equals(ChatUsage.UNKNOWN))
          .ifPresent(reported -> usage = reported);
    } catch (BrokenAnswerException broken) {
      fail(broken.text(), out);
    }
    return out;
  }

  private void content(ChatChunk chunk, List<StreamEvent> out) throws BrokenAnswerException {
    count(chunk);
    say(Part.REASONING, chunk.reasoning(), out);
    say(Part.TEXT, chunk.text(), out);
    say(Part.REFUSAL, chunk.refusal(), out);
    for (ChatToolDelta piece : chunk.toolCalls()) {
      calls.add(piece);
    }
    if (chunk.finishReason().isPresent()) {
      FinishReason reason = FinishReason.of(chunk.finishReason().get());
      tellHalf(out);
      finish(reason, calls.whole(reason != FinishReason.STOP), chunk.matchedStop(), out);
      state = State.FINISHED;
    }
  }

  /** An engine may cut a text between the two halves of a character, which go out together. */
  private void say(Part part, String piece, List<StreamEvent> out) {
    if (piece.isEmpty()) {
      return;
    }
    if (part != halfOf) {
      tellHalf(out);
    }
    String whole = half + piece;
    boolean endsWithin = Character.isHighSurrogate(whole.charAt(whole.length() - 1));
    int end = endsWithin ? whole.length() - 1 : whole.length();
    half = whole.substring(end);
    halfOf = part;
    tell(part, whole.substring(0, end), out);
  }

  /** Its other half never came. */
  private void tellHalf(List<StreamEvent> out) {
    tell(halfOf, half, out);
    half = "";
  }

  private void tell(Part part, String text, List<StreamEvent> out) {
    if (!text.isEmpty()) {
      switch (part) {
        case REASONING -> reasoning(text, out);
        case TEXT -> text(text, out);
        case REFUSAL -> refusal(text, out);
      }
    }
  }

  private void count(ChatChunk chunk) throws BrokenAnswerException {
    characters += Tokens.characters(chunk);
    if (characters > ANSWER_CHARACTERS_MAX) {
      throw new BrokenAnswerException(
          "an answer of more than " + ANSWER_CHARACTERS_MAX + " characters");
    }
  }

  private void open(String id, String model, long createdSeconds, List<StreamEvent> out) {
    if (state == State.NEW) {
      state = State.OPEN;
      opened(id, model.isEmpty() ? request.model() : model, createdSeconds, out);
    }
  }

  private void fail(String message, List<StreamEvent> out) {
    out.addAll(fail(AgentFailure.of(ErrorClass.TRANSPORT, message)));
  }

  private boolean isOver() {
    return state == State.COMPLETE || state == State.FAILED;
  }

  /** Whether the engine has begun a call, which may be one that its length limit cut. */
  final boolean hasCalls() {
    return !calls.isEmpty();
  }

  /** The first events. */
  abstract void opened(String id, String model, long createdSeconds, List<StreamEvent> out);

  abstract void reasoning(String piece, List<StreamEvent> out);

  abstract void text(String piece, List<StreamEvent> out);

  abstract void refusal(String piece, List<StreamEvent> out);

  /** Closes what is open and lets the calls out. */
  abstract void finish(
      FinishReason reason,
      List<ToolCall> calls,
      Optional<String> matchedStop,
      List<StreamEvent> out);

  /** The last events. */
  abstract void complete(Tokens tokens, List<StreamEvent> out);

  abstract void failed(AgentFailure told, List<StreamEvent> out);

  abstract void alive(List<StreamEvent> out);
}
