package dev.blackbox.translate;

import dev.blackbox.wire.ChatChunk;
import dev.blackbox.wire.ChatToolDelta;
import dev.blackbox.wire.ChatUsage;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Whole answers of an engine as responses of the OpenAI API, and the parts of these. */
public final class ResponsesAnswers {

  static final String COMPLETED = "completed";

  private ResponsesAnswers() {}

  /**
   * Translates a whole answer.
   *
   * @throws BrokenAnswerException if the engine broke off, or a call is not well-formed
   */
  public static Map<String, @Nullable Object> of(
      ChatChunk answer, TranslatedRequest request, IdSource ids) throws BrokenAnswerException {
    FinishReason reason = FinishReason.of(answer);
    CallAssembler assembler = new CallAssembler(request, ids, "call_");
    for (ChatToolDelta call : answer.toolCalls()) {
      assembler.add(call);
    }
    List<Map<String, @Nullable Object>> output = new ArrayList<>();
    // Of an answer that was cut, the last item is not whole; of calls, the cut one is not there.
    String lastStatus = assembler.isEmpty() ? status(reason) : COMPLETED;
    if (!answer.reasoning().isEmpty()) {
      boolean last = answer.text().isEmpty() && answer.refusal().isEmpty();
      output.add(
          reasoning(
              ids.next("rs_"),
              last ? lastStatus : COMPLETED,
              List.of(summaryPart(answer.reasoning()))));
    }
    List<Map<String, @Nullable Object>> parts = new ArrayList<>();
    if (!answer.text().isEmpty()) {
      parts.add(outputText(answer.text()));
    }
    if (!answer.refusal().isEmpty()) {
      parts.add(refusalPart(answer.refusal()));
    }
    if (!parts.isEmpty()) {
      output.add(message(ids.next("msg_"), lastStatus, parts));
    }
    for (ToolCall call : assembler.whole(reason != FinishReason.STOP)) {
      output.add(call(ids.next(call.tool().custom() ? "ctc_" : "fc_"), call, false));
    }
    Map<String, @Nullable Object> response =
        response(
            answer.id().isEmpty() ? ids.next("resp_") : answer.id(),
            answer.createdSeconds(),
            status(reason),
            answer.model().isEmpty() ? request.model() : answer.model(),
            output,
            request);
    conclude(
        response,
        reason,
        Tokens.of(answer.usage().orElse(ChatUsage.UNKNOWN), request, Tokens.characters(answer)));
    return response;
  }

  /** An empty response that ends an agent quietly whose rollout is void; the reference server's. */
  public static Map<String, @Nullable Object> ofVoid(TranslatedRequest request) {
    Map<String, @Nullable Object> response =
        response(
            "resp-rollout-invalidated",
            0,
            "completed",
            "proxy-model",
            List.of(message("msg_rollout_invalidated", "completed", List.of(outputText("")))),
            request);
    conclude(response, FinishReason.STOP, Tokens.of(ChatUsage.NONE, request, 0));
    return response;
  }

  static String status(FinishReason reason) {
    return reason == FinishReason.STOP ? COMPLETED : "incomplete";
  }

  static Map<String, @Nullable Object> response(
      String id,
      long createdSeconds,
      String status,
      String model,
      List<Map<String, @Nullable Object>> output,
      TranslatedRequest request) {
    Map<String, @Nullable Object> response = new LinkedHashMap<>();
    response.put("id", id);
    response.put("object", "response");
    response.put("created_at", createdSeconds);
    response.put("status", status);
    response.put("error", null);
    response.put("incomplete_details", null);
    response.put("model", model);
    response.put("output", output);
    response.put("usage", null);
    response.putAll(request.echoed());
    return response;
  }

  /** Fills in what is known only at the end. */
  static void conclude(Map<String, @Nullable Object> response, FinishReason reason, Tokens tokens) {
    response.put("usage", tokens.responses());
    if (reason == FinishReason.LENGTH) {
      response.put("incomplete_details", Map.of("reason", "max_output_tokens"));
    } else if (reason == FinishReason.FILTERED) {
      response.put("incomplete_details", Map.of("reason", "content_filter"));
    }
  }

  /** A status is only said of reasoning that was cut; OpenAI's own has none else. */
  static Map<String, @Nullable Object> reasoning(
      String id, String status, List<Map<String, @Nullable Object>> summary) {
    Map<String, @Nullable Object> item = new LinkedHashMap<>();
    item.put("id", id);
    item.put("type", "reasoning");
    if (!status.equals(COMPLETED)) {
      item.put("status", status);
    }
    item.put("summary", summary);
    return item;
  }

  static Map<String, @Nullable Object> summaryPart(String text) {
    Map<String, @Nullable Object> part = new LinkedHashMap<>();
    part.put("type", "summary_text");
    part.put("text", text);
    return part;
  }

  static Map<String, @Nullable Object> message(
      String id, String status, List<Map<String, @Nullable Object>> content) {
    Map<String, @Nullable Object> item = new LinkedHashMap<>();
    item.put("id", id);
    item.put("type", "message");
    item.put("status", status);
    item.put("role", "assistant");
    item.put("content", content);
    return item;
  }

  static Map<String, @Nullable Object> outputText(String text) {
    Map<String, @Nullable Object> part = new LinkedHashMap<>();
    part.put("type", "output_text");
    part.put("text", text);
    part.put("annotations", List.of());
    part.put("logprobs", List.of());
    return part;
  }

  static Map<String, @Nullable Object> refusalPart(String text) {
    Map<String, @Nullable Object> part = new LinkedHashMap<>();
    part.put("type", "refusal");
    part.put("refusal", text);
    return part;
  }

  /**
   * A call as an item.
   *
   * @param begun whether it is only begun, so that its arguments are still to come
   */
  static Map<String, @Nullable Object> call(String id, ToolCall call, boolean begun) {
    boolean custom = call.tool().custom();
    Map<String, @Nullable Object> item = new LinkedHashMap<>();
    item.put("id", id);
    item.put("type", custom ? "custom_tool_call" : "function_call");
    item.put("status", begun ? "in_progress" : "completed");
    item.put("call_id", call.id());
    item.put("name", call.tool().name());
    call.tool().namespace().ifPresent(namespace -> item.put("namespace", namespace));
    String whole = custom ? call.customInput() : call.arguments();
    item.put(custom ? "input" : "arguments", begun ? "" : whole);
    return item;
  }
}
