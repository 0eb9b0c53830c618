package dev.blackbox.translate;

import static dev.blackbox.translate.ResponsesAnswers.COMPLETED;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An engine's stream as the events of the OpenAI Responses API. Each item has its whole life:
 * added, its parts and deltas, done. Sequence numbers rise by one from 0. Source of the sequence:
 * OpenAI API reference, "Responses: streaming events".
 */
public final class ResponsesStream extends DialectStream {

  private enum Open {
    NOTHING,
    REASONING,
    TEXT,
    REFUSAL
  }

  private final List<Map<String, @Nullable Object>> output = new ArrayList<>();
  private final StringBuilder collected = new StringBuilder();

  /** Parts of the open message that are done. */
  private final List<Map<String, @Nullable Object>> parts = new ArrayList<>();

  private Open open = Open.NOTHING;
  private String itemId = "";
  private int sequenceNumber;
  private String responseId = "";
  private String model = "";
  private long createdSeconds;
  private FinishReason reason = FinishReason.STOP;

  public ResponsesStream(TranslatedRequest request, IdSource ids) {
    super(request, ids, "call_");
  }

  @Override
  void opened(String id, String engineModel, long createdAt, List<StreamEvent> out) {
    responseId = id.isEmpty() ? ids.next("resp_") : id;
    model = engineModel;
    createdSeconds = createdAt;
    out.add(event("response.created", Map.of("response", response("in_progress"))));
    alive(out);
  }

  @Override
  void alive(List<StreamEvent> out) {
    if (responseId.isEmpty()) {
      out.addAll(start());
      return;
    }
    out.add(event("response.in_progress", Map.of("response", response("in_progress"))));
  }

  @Override
  void reasoning(String piece, List<StreamEvent> out) {
    if (open != Open.REASONING) {
      closeItem(COMPLETED, out);
      open = Open.REASONING;
      itemId = ids.next("rs_");
      added(ResponsesAnswers.reasoning(itemId, COMPLETED, List.of()), out);
      out.add(part("response.reasoning_summary_part.added", "summary_index", summary("")));
    }
    collected.append(piece);
    out.add(delta("response.reasoning_summary_text.delta", "summary_index", piece));
  }

  @Override
  void text(String piece, List<StreamEvent> out) {
    openPart(Open.TEXT, out);
    collected.append(piece);
    StreamEvent delta = delta("response.output_text.delta", "content_index", piece);
    delta.data().put("logprobs", List.of());
    out.add(delta);
  }

  @Override
  void refusal(String piece, List<StreamEvent> out) {
    openPart(Open.REFUSAL, out);
    collected.append(piece);
    out.add(delta("response.refusal.delta", "content_index", piece));
  }

  private void openPart(Open wanted, List<StreamEvent> out) {
    if (open == wanted) {
      return;
    }
    if (open == Open.TEXT || open == Open.REFUSAL) {
      closePart(out);
    } else {
      closeItem(COMPLETED, out);
      itemId = ids.next("msg_");
      added(ResponsesAnswers.message(itemId, "in_progress", List.of()), out);
    }
    open = wanted;
    out.add(part("response.content_part.added", "content_index", contentPart("")));
  }

  @Override
  void finish(
      FinishReason why, List<ToolCall> calls, Optional<String> matchedStop, List<StreamEvent> out) {
    reason = why;
    // Of an answer that was cut, the last item is not whole; of calls, the cut one is not there.
    closeItem(hasCalls() ? COMPLETED : ResponsesAnswers.status(why), out);
    for (ToolCall call : calls) {
      call(call, out);
    }
  }

  private void call(ToolCall call, List<StreamEvent> out) {
    boolean custom = call.tool().custom();
    itemId = ids.next(custom ? "ctc_" : "fc_");
    added(ResponsesAnswers.call(itemId, call, true), out);
    String name = custom ? "response.custom_tool_call_input" : "response.function_call_arguments";
    String whole = custom ? call.customInput() : call.arguments();
    Map<String, @Nullable Object> delta = place();
    delta.put("delta", whole);
    out.add(event(name + ".delta", delta));
    Map<String, @Nullable Object> done = place();
    done.put(custom ? "input" : "arguments", whole);
    if (!custom) {
      done.put("name", call.tool().name());
    }
    out.add(event(name + ".done", done));
    done(ResponsesAnswers.call(itemId, call, false), out);
  }

  @Override
  void complete(Tokens tokens, List<StreamEvent> out) {
    String status = ResponsesAnswers.status(reason);
    Map<String, @Nullable Object> response = response(status);
    ResponsesAnswers.conclude(response, reason, tokens);
    out.add(event("response." + status, Map.of("response", response)));
  }

  @Override
  void failed(AgentFailure told, List<StreamEvent> out) {
    if (responseId.isEmpty()) {
      out.addAll(start());
    }
    Map<String, @Nullable Object> response = response("failed");
    response.put("error", DialectErrors.responsesError(told));
    out.add(event("response.failed", Map.of("response", response)));
  }

  private Map<String, @Nullable Object> response(String status) {
    return ResponsesAnswers.response(
        responseId, createdSeconds, status, model, List.copyOf(output), request);
  }

  private void closePart(List<StreamEvent> out) {
    boolean text = open == Open.TEXT;
    Map<String, @Nullable Object> done = place();
    done.put("content_index", parts.size());
    done.put(text ? "text" : "refusal", collected.toString());
    if (text) {
      done.put("logprobs", List.of());
    }
    out.add(event(text ? "response.output_text.done" : "response.refusal.done", done));
    Map<String, @Nullable Object> part = contentPart(collected.toString());
    out.add(part("response.content_part.done", "content_index", part));
    parts.add(part);
    collected.setLength(0);
  }

  private void closeItem(String status, List<StreamEvent> out) {
    switch (open) {
      case NOTHING -> {
        return;
      }
      case REASONING -> {
        Map<String, @Nullable Object> done = place();
        done.put("summary_index", 0);
        done.put("text", collected.toString());
        out.add(event("response.reasoning_summary_text.done", done));
        Map<String, @Nullable Object> part = summary(collected.toString());
        out.add(part("response.reasoning_summary_part.done", "summary_index", part));
        done(ResponsesAnswers.reasoning(itemId, status, List.of(part)), out);
      }
      case TEXT, REFUSAL -> {
        closePart(out);
        done(ResponsesAnswers.message(itemId, status, List.copyOf(parts)), out);
        parts.clear();
      }
    }
    collected.setLength(0);
    open = Open.NOTHING;
  }

  private Map<String, @Nullable Object> contentPart(String text) {
    return open == Open.TEXT
        ? ResponsesAnswers.outputText(text)
        : ResponsesAnswers.refusalPart(text);
  }

  private static Map<String, @Nullable Object> summary(String text) {
    return ResponsesAnswers.summaryPart(text);
  }

  private void added(Map<String, @Nullable Object> item, List<StreamEvent> out) {
    out.add(item("response.output_item.added", item));
  }

  private void done(Map<String, @Nullable Object> item, List<StreamEvent> out) {
    out.add(item("response.output_item.done", item));
    output.add(item);
  }

  private StreamEvent item(String name, Map<String, @Nullable Object> item) {
    Map<String, @Nullable Object> fields = new LinkedHashMap<>();
    fields.put("output_index", output.size());
    fields.put("item", item);
    return event(name, fields);
  }

  private StreamEvent part(String name, String indexKey, Map<String, @Nullable Object> part) {
    Map<String, @Nullable Object> fields = place();
    fields.put(indexKey, parts.size());
    fields.put("part", part);
    return event(name, fields);
  }

  private StreamEvent delta(String name, String indexKey, String piece) {
    Map<String, @Nullable Object> fields = place();
    fields.put(indexKey, parts.size());
    fields.put("delta", piece);
    return event(name, fields);
  }

  /** The open item. */
  private Map<String, @Nullable Object> place() {
    Map<String, @Nullable Object> fields = new LinkedHashMap<>();
    fields.put("item_id", itemId);
    fields.put("output_index", output.size());
    return fields;
  }

  private StreamEvent event(String name, Map<String, ? extends @Nullable Object> fields) {
    Map<String, @Nullable Object> data = new LinkedHashMap<>();
    data.put("type", name);
    data.put("sequence_number", sequenceNumber);
    data.putAll(fields);
    sequenceNumber++;
    return new StreamEvent(name, data);
  }
}
