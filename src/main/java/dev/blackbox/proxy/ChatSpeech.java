package dev.blackbox.proxy;

import dev.blackbox.translate.BrokenAnswerException;
import dev.blackbox.translate.ChatDialect;
import dev.blackbox.translate.ChatToolCalls;
import dev.blackbox.translate.Dialect;
import dev.blackbox.upstream.UpstreamHead;
import dev.blackbox.wire.ChatProgress;
import dev.blackbox.wire.ChatRequest;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;

/**
 * Chat completions, which the engine speaks too: bytes pass as they are, errors included; only tool
 * calls are looked at.
 */
final class ChatSpeech implements Speech {

  private final ChatRequest request;
  private final ChatStreamSpeech events;
  private OptionalLong maxTokens = OptionalLong.empty();

  ChatSpeech(ChatRequest request) {
    this.request = request;
    this.events = new ChatStreamSpeech(request.choices());
  }

  @Override
  public Dialect dialect() {
    return Dialect.CHAT;
  }

  @Override
  public String model() {
    return request.model();
  }

  /** Bytes pass unread here. */
  @Override
  public String lastRequest() {
    return "";
  }

  @Override
  public String systemText() {
    return request.systemText();
  }

  @Override
  public boolean stream() {
    return request.stream();
  }

  @Override
  public int choices() {
    return request.choices();
  }

  @Override
  public byte[] question(OptionalDouble defaultTemperature) {
    return request.bodyFor(defaultTemperature, maxTokens);
  }

  @Override
  public void lowerMaxTokens(long allowed) {
    maxTokens = OptionalLong.of(allowed);
  }

  @Override
  public Reply whole(UpstreamHead head, byte[] body, ChatProgress answer) throws CallFailure {
    try {
      ChatToolCalls.requireGoodEnds(answer, request.choices());
      byte[] told = ChatToolCalls.ofAnswer(body, answer);
      return new Reply(head.status(), EngineHeaders.forAgent(head), told);
    } catch (BrokenAnswerException broken) {
      throw CallFailure.malformed("the engine's answer is broken: " + broken.text());
    }
  }

  @Override
  public Reply failure(CallFailure failure) {
    return failure.chatReply();
  }

  @Override
  public Optional<Reply> quietEnd() {
    return Optional.of(new Reply(200, AgentAnswer.JSON, ChatDialect.emptyAnswer()));
  }

  @Override
  public Map<String, String> streamHeaders(UpstreamHead head) {
    Map<String, String> headers = new LinkedHashMap<>(AgentAnswer.EVENT_STREAM);
    headers.putAll(EngineHeaders.forAgent(head));
    return headers;
  }

  @Override
  public ChatStreamSpeech events() {
    return events;
  }
}
