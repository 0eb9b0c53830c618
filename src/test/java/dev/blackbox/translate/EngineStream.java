package dev.blackbox.translate;

import dev.blackbox.wire.ByteSlice;
import dev.blackbox.wire.ChatStreamEvent;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.SseDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Streams as engines send them, made from whole messages, and read in pieces of any size. */
final class EngineStream {

  private static final int EVENT_BYTES_MAX = 1 << 20;

  /** Odd, so that it cuts surrogate pairs apart only where the maker of chunks may not. */
  private static final int PIECE_CODE_POINTS = 3;

  private EngineStream() {}

  /** The chunks of an answer: role, reasoning, text, calls in turns, finish reason, usage. */
  static List<Map<String, @Nullable Object>> chunks(
      Map<String, @Nullable Object> message,
      @Nullable Object finish,
      Map<String, @Nullable Object> choice,
      @Nullable Object usage) {
    List<Map<String, @Nullable Object>> chunks = new ArrayList<>();
    chunks.add(chunk(Map.of("role", "assistant", "content", ""), null, Map.of()));
    for (String key : List.of("reasoning_content", "reasoning", "content", "refusal")) {
      for (Object part : Corpus.list(message.get(key))) {
        chunks.add(chunk(Map.of(key, List.of(part)), null, Map.of()));
      }
      if (message.get(key) instanceof String text) {
        for (String piece : pieces(text)) {
          chunks.add(chunk(Map.of(key, piece), null, Map.of()));
        }
      }
    }
    if (message.get("function_call") != null) {
      chunks.add(chunk(Map.of("function_call", message.get("function_call")), null, Map.of()));
    }
    interleaved(Corpus.list(message.get("tool_calls")), chunks);
    chunks.add(chunk(Map.of(), finish, choice));
    if (usage != null) {
      Map<String, @Nullable Object> last = envelope();
      last.put("choices", List.of());
      last.put("usage", usage);
      chunks.add(last);
    }
    return chunks;
  }

  /** The first pieces of all calls, then the second ones, and so on. */
  private static void interleaved(List<?> calls, List<Map<String, @Nullable Object>> chunks) {
    List<List<?>> arguments = new ArrayList<>();
    int most = 0;
    for (int i = 0; i < calls.size(); i++) {
      Map<String, @Nullable Object> call = Corpus.object(calls.get(i));
      Map<String, @Nullable Object> function = Corpus.object(call.get("function"));
      Object whole = function.get("arguments");
      List<?> pieces =
          whole instanceof String text ? pieces(text) : whole == null ? List.of() : List.of(whole);
      arguments.add(pieces);
      most = Math.max(most, pieces.size());
      Map<String, @Nullable Object> first = new LinkedHashMap<>();
      first.put("index", i);
      first.put("id", call.get("id"));
      first.put("type", "function");
      Map<String, @Nullable Object> named = new LinkedHashMap<>();
      named.put("name", function.get("name"));
      named.put("arguments", "");
      first.put("function", named);
      chunks.add(chunk(Map.of("tool_calls", List.of(first)), null, Map.of()));
    }
    for (int round = 0; round < most; round++) {
      for (int i = 0; i < calls.size(); i++) {
        if (round < arguments.get(i).size()) {
          Map<String, @Nullable Object> piece = new LinkedHashMap<>();
          piece.put("index", i);
          piece.put("function", Map.of("arguments", arguments.get(i).get(round)));
          chunks.add(chunk(Map.of("tool_calls", List.of(piece)), null, Map.of()));
        }
      }
    }
  }

  private static List<String> pieces(String text) {
    List<String> pieces = new ArrayList<>();
    int[] points = text.codePoints().toArray();
    for (int i = 0; i < points.length; i += PIECE_CODE_POINTS) {
      pieces.add(new String(points, i, Math.min(PIECE_CODE_POINTS, points.length - i)));
    }
    return pieces;
  }

  static Map<String, @Nullable Object> chunk(
      Map<String, ? extends @Nullable Object> delta,
      @Nullable Object finish,
      Map<String, @Nullable Object> more) {
    Map<String, @Nullable Object> choice = new LinkedHashMap<>(more);
    choice.put("index", 0);
    choice.put("delta", delta);
    choice.put("finish_reason", finish);
    Map<String, @Nullable Object> chunk = envelope();
    chunk.put("choices", List.of(choice));
    chunk.put("usage", null);
    return chunk;
  }

  static Map<String, @Nullable Object> envelope() {
    Map<String, @Nullable Object> envelope = new LinkedHashMap<>();
    envelope.put("id", "chatcmpl-1");
    envelope.put("object", "chat.completion.chunk");
    envelope.put("created", 7);
    envelope.put("model", "engine-model");
    return envelope;
  }

  /** The chunks as bytes, with {@code [DONE]}. */
  static byte[] bytes(List<Map<String, @Nullable Object>> chunks, String lineEnd) {
    StringBuilder text = new StringBuilder(": heartbeat" + lineEnd + lineEnd);
    for (Map<String, @Nullable Object> chunk : chunks) {
      text.append("data: ").append(Json.write(chunk)).append(lineEnd).append(lineEnd);
    }
    text.append("data: [DONE]").append(lineEnd).append(lineEnd);
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }

  /** Feeds a stream in two pieces. */
  static List<StreamEvent> run(byte[] bytes, int cut, DialectStream stream) throws Exception {
    List<StreamEvent> out = new ArrayList<>();
    for (String data : datas(bytes, cut)) {
      byte[] utf8 = data.getBytes(StandardCharsets.UTF_8);
      out.addAll(stream.accept(ChatStreamEvent.parse(ByteSlice.of(utf8))));
    }
    out.addAll(stream.end());
    return out;
  }

  /** The data of a stream's events, which comes in two pieces. */
  static List<String> datas(byte[] bytes, int cut) throws Exception {
    SseDecoder decoder = new SseDecoder(EVENT_BYTES_MAX);
    List<String> datas = new ArrayList<>();
    int[][] parts = {{0, cut}, {cut, bytes.length}};
    for (int[] part : parts) {
      decoder.append(bytes, part[0], part[1] - part[0]);
      SseDecoder.Event event = decoder.next();
      while (event != null) {
        if (event.hasContent()) {
          datas.add(String.valueOf(event.data()));
        }
        event = decoder.next();
      }
    }
    return datas;
  }
}
