package dev.blackbox.translate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.wire.Json;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Puts a stream's events together as an SDK does, and fails where an SDK would: at a delta for a
 * block that is not open, at a sequence number that is left out.
 */
final class Assembled {

  private Assembled() {}

  /** The message of an Anthropic stream. */
  static Map<String, @Nullable Object> anthropic(List<StreamEvent> events) throws Exception {
    Map<String, @Nullable Object> message = new LinkedHashMap<>();
    List<Map<String, @Nullable Object>> content = new ArrayList<>();
    StringBuilder json = new StringBuilder();
    int open = -1;
    for (StreamEvent event : events) {
      Map<String, @Nullable Object> data = event.data();
      assertThat(data).containsEntry("type", event.name());
      switch (event.name()) {
        case "ping" -> {}
        case "message_start" -> {
          assertThat(message).isEmpty();
          message.putAll(Corpus.object(data.get("message")));
        }
        case "content_block_start" -> {
          assertThat(open).isEqualTo(-1);
          open = content.size();
          assertThat(data).containsEntry("index", open);
          content.add(new LinkedHashMap<>(Corpus.object(data.get("content_block"))));
        }
        case "content_block_delta" -> {
          assertThat(data).containsEntry("index", open);
          Map<String, @Nullable Object> delta = Corpus.object(data.get("delta"));
          Map<String, @Nullable Object> block = content.get(open);
          switch (String.valueOf(delta.get("type"))) {
            case "text_delta" -> block.merge("text", text(delta, "text"), Assembled::concat);
            case "thinking_delta" ->
                block.merge("thinking", text(delta, "thinking"), Assembled::concat);
            case "signature_delta" -> block.put("signature", delta.get("signature"));
            case "input_json_delta" -> json.append(text(delta, "partial_json"));
            default -> throw new AssertionError("unknown delta: " + delta.get("type"));
          }
        }
        case "content_block_stop" -> {
          assertThat(data).containsEntry("index", open);
          if (!json.isEmpty()) {
            content.get(open).put("input", Json.parse(json.toString()));
            json.setLength(0);
          }
          open = -1;
        }
        case "message_delta" -> {
          assertThat(open).isEqualTo(-1);
          message.putAll(Corpus.object(data.get("delta")));
          message.put("usage", data.get("usage"));
        }
        case "message_stop" -> assertThat(event).isEqualTo(events.getLast());
        default -> throw new AssertionError("unknown event: " + event.name());
      }
    }
    assertThat(events.getLast().name()).isEqualTo("message_stop");
    message.put("content", content);
    return message;
  }

  /** The response of a Responses stream, from its last event, compared with its items. */
  static Map<String, @Nullable Object> responses(List<StreamEvent> events) {
    sequence(events);
    List<Object> items = new ArrayList<>();
    Map<String, StringBuilder> deltas = new LinkedHashMap<>();
    String open = "";
    for (StreamEvent event : events) {
      Map<String, @Nullable Object> data = event.data();
      Map<String, @Nullable Object> item = Corpus.object(data.get("item"));
      switch (event.name()) {
        case "response.output_item.added" -> {
          assertThat(open).isEmpty();
          assertThat(data).containsEntry("output_index", items.size());
          open = text(item, "id");
        }
        case "response.output_item.done" -> {
          assertThat(text(item, "id")).isEqualTo(open);
          open = "";
          items.add(item);
        }
        case "response.output_text.done" ->
            assertThat(whole(deltas, "response.output_text")).isEqualTo(data.get("text"));
        case "response.refusal.done" ->
            assertThat(whole(deltas, "response.refusal")).isEqualTo(data.get("refusal"));
        case "response.function_call_arguments.done" ->
            assertThat(whole(deltas, "response.function_call_arguments"))
                .isEqualTo(data.get("arguments"));
        case "response.custom_tool_call_input.done" ->
            assertThat(whole(deltas, "response.custom_tool_call_input"))
                .isEqualTo(data.get("input"));
        case "response.reasoning_summary_text.done" ->
            assertThat(whole(deltas, "response.reasoning_summary_text"))
                .isEqualTo(data.get("text"));
        default -> {
          if (event.name().endsWith(".delta")) {
            assertThat(text(data, "item_id")).isEqualTo(open);
            deltas
                .computeIfAbsent(event.name(), _ -> new StringBuilder())
                .append(text(data, "delta"));
          }
        }
      }
    }
    assertThat(open).isEmpty();
    Map<String, @Nullable Object> response = Corpus.object(events.getLast().data().get("response"));
    assertThat(events.getLast().name()).isEqualTo("response." + response.get("status"));
    assertThat(response.get("output")).isEqualTo(items);
    return response;
  }

  static void sequence(List<StreamEvent> events) {
    for (int i = 0; i < events.size(); i++) {
      assertThat(events.get(i).data()).containsEntry("sequence_number", i);
      assertThat(events.get(i).data()).containsEntry("type", events.get(i).name());
    }
    assertThat(events.get(0).name()).isEqualTo("response.created");
    assertThat(events.get(1).name()).isEqualTo("response.in_progress");
  }

  private static String whole(Map<String, StringBuilder> deltas, String name) {
    StringBuilder text = deltas.remove(name + ".delta");
    return text == null ? "" : text.toString();
  }

  private static String text(Map<String, @Nullable Object> object, String key) {
    return object.get(key) instanceof String text ? text : "";
  }

  private static Object concat(Object before, Object piece) {
    return before + String.valueOf(piece);
  }
}
