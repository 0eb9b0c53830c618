package dev.blackbox.proxy;

import dev.blackbox.translate.AnthropicAnswers;
import dev.blackbox.translate.AnthropicRequests;
import dev.blackbox.translate.AnthropicStream;
import dev.blackbox.translate.BrokenAnswerException;
import dev.blackbox.translate.Dialect;
import dev.blackbox.translate.DialectErrors;
import dev.blackbox.translate.IdSource;
import dev.blackbox.translate.RequestRefusedException;
import dev.blackbox.translate.ResponsesAnswers;
import dev.blackbox.translate.ResponsesRequests;
import dev.blackbox.translate.ResponsesStream;
import dev.blackbox.translate.TranslatedRequest;
import dev.blackbox.translate.TranslationOptions;
import dev.blackbox.upstream.UpstreamHead;
import dev.blackbox.wire.ChatChunk;
import dev.blackbox.wire.ChatProgress;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.MalformedJsonException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** A dialect that the engine does not speak: Anthropic Messages, OpenAI Responses. */
final class TranslatedSpeech implements Speech {

  private final Dialect dialect;
  private final TranslatedRequest request;
  private final IdSource ids = IdSource.random();
  private final TranslatedStreamSpeech events;
  private OptionalLong maxTokens = OptionalLong.empty();

  private TranslatedSpeech(
      Dialect dialect, TranslatedRequest request, TranslatedStreamSpeech events) {
    this.dialect = dialect;
    this.request = request;
    this.events = events;
  }

  /**
   * A request of the Anthropic Messages API.
   *
   * @throws RequestRefusedException if it is none, or cannot be said to the engine
   */
  static TranslatedSpeech anthropic(@Nullable Object body) throws RequestRefusedException {
    TranslatedRequest request = AnthropicRequests.toChat(body, TranslationOptions.DEFAULT);
    return new TranslatedSpeech(
        Dialect.ANTHROPIC,
        request,
        new TranslatedStreamSpeech(new AnthropicStream(request, IdSource.random()), false));
  }

  /**
   * A request of the OpenAI Responses API.
   *
   * @throws RequestRefusedException if it is none, or cannot be said to the engine
   */
  static TranslatedSpeech responses(@Nullable Object body) throws RequestRefusedException {
    TranslatedRequest request = ResponsesRequests.toChat(body, TranslationOptions.DEFAULT);
    return new TranslatedSpeech(
        Dialect.RESPONSES,
        request,
        new TranslatedStreamSpeech(new ResponsesStream(request, IdSource.random()), true));
  }

  @Override
  public Dialect dialect() {
    return dialect;
  }

  @Override
  public String model() {
    return request.model();
  }

  @Override
  public String lastRequest() {
    return messages().isEmpty() ? "" : text(messages().getLast());
  }

  @Override
  public String systemText() {
    return !messages().isEmpty()
            && messages().getFirst() instanceof Map<?, ?> first
            && "system".equals(first.get("role"))
        ? text(first)
        : "";
  }

  private List<?> messages() {
    return request.chat().get("messages") instanceof List<?> messages ? messages : List.of();
  }

  private static String text(@Nullable Object message) {
    return message instanceof Map<?, ?> one && one.get("content") instanceof String text
        ? text
        : "";
  }

  @Override
  public boolean stream() {
    return request.stream();
  }

  @Override
  public int choices() {
    return 1;
  }

  @Override
  public byte[] question(OptionalDouble defaultTemperature) {
    Map<String, @Nullable Object> chat = new LinkedHashMap<>(request.chat());
    defaultTemperature.ifPresent(temperature -> chat.putIfAbsent("temperature", temperature));
    maxTokens.ifPresent(allowed -> chat.put("max_tokens", allowed));
    return Json.writeBytes(chat);
  }

  @Override
  public void lowerMaxTokens(long allowed) {
    maxTokens = OptionalLong.of(allowed);
  }

  @Override
  public Reply whole(UpstreamHead head, byte[] body, ChatProgress progress) throws CallFailure {
    try {
      ChatChunk answer = ChatChunk.ofAnswer(body);
      Map<String, @Nullable Object> tree =
          dialect == Dialect.ANTHROPIC
              ? AnthropicAnswers.of(answer, request, ids)
              : ResponsesAnswers.of(answer, request, ids);
      return new Reply(200, headers(head, AgentAnswer.JSON), Json.writeBytes(tree));
    } catch (BrokenAnswerException broken) {
      throw CallFailure.malformed("the engine's answer is broken: " + broken.text());
    } catch (MalformedJsonException malformed) {
      throw CallFailure.malformed(
          "the engine's answer is no chat completion: " + malformed.getMessage());
    }
  }

  /** The proxy has done what can be done; a retry of the agent would cost a recorded step. */
  @Override
  public Reply failure(CallFailure failure) {
    return Reply.of(DialectErrors.answer(dialect, failure.told(), false));
  }

  /**
   * Claude Code takes an empty answer for a mistake and calls again, so it is told; Codex ends its
   * turn with an empty answer.
   */
  @Override
  public Optional<Reply> quietEnd() {
    return dialect == Dialect.ANTHROPIC
        ? Optional.empty()
        : Optional.of(
            new Reply(200, AgentAnswer.JSON, Json.writeBytes(ResponsesAnswers.ofVoid(request))));
  }

  @Override
  public Map<String, String> streamHeaders(UpstreamHead head) {
    return headers(head, AgentAnswer.EVENT_STREAM);
  }

  @Override
  public TranslatedStreamSpeech events() {
    return events;
  }

  private static Map<String, String> headers(UpstreamHead head, Map<String, String> ours) {
    Map<String, String> headers = new LinkedHashMap<>(EngineHeaders.forAgent(head));
    headers.putAll(ours);
    return headers;
  }
}
