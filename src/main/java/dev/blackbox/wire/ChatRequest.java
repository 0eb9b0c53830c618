package dev.blackbox.wire;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A chat completion request as its sender wrote it. It is parsed once, at its top level; what must
 * be changed is changed in place, and every other byte stays as it was, so that an engine sees the
 * prompt exactly as the agent wrote it.
 */
public final class ChatRequest {

  /** Both mean the same: OpenAI API reference. */
  private static final Set<String> SYSTEM_ROLES = Set.of("system", "developer");

  private final byte[] body;
  private final int objectStart;
  private final List<Member> members;
  private final Map<String, Member> byName;
  private final boolean stream;
  private final String model;
  private final int choices;

  /**
   * A top-level member; offsets are of the name's opening quote and of the value.
   *
   * @param value as text: of a string its content, of a small value its JSON, else empty
   */
  private record Member(
      String name, JsonToken kind, String value, int nameStart, int valueStart, int valueEnd) {}

  private record Edit(int start, int end, String replacement) {}

  private ChatRequest(byte[] body, int objectStart, List<Member> members)
      throws InvalidChatRequestException {
    this.body = body;
    this.objectStart = objectStart;
    this.members = List.copyOf(members);
    this.byName = new LinkedHashMap<>();
    for (Member member : members) {
      if (byName.put(member.name(), member) != null) {
        throw new InvalidChatRequestException("a top-level key of the body appears twice");
      }
    }
    Member messages = byName.get("messages");
    if (messages == null || messages.kind() != JsonToken.START_ARRAY) {
      throw new InvalidChatRequestException("messages must be a list");
    }
    this.stream = readStream(byName.get("stream"));
    this.model = readModel(byName.get("model"));
    this.choices = readChoices(byName.get("n"));
  }

  /**
   * Reads a request body.
   *
   * @throws InvalidChatRequestException if it is not a JSON object in UTF-8 with a list of
   *     messages, or holds what no engine can take, such as a lone surrogate
   */
  public static ChatRequest read(byte[] body) throws InvalidChatRequestException {
    if (body.length >= 2 && (body[0] == 0 || body[1] == 0)) {
      throw new InvalidChatRequestException("the body must be UTF-8, not UTF-16 or UTF-32");
    }
    Utf8Check.check(body);
    List<Member> members = new ArrayList<>();
    try (JsonParser parser = Json.MAPPER.getFactory().createParser(body)) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        throw new InvalidChatRequestException("the body must be a JSON object");
      }
      int objectStart = tokenStart(parser);
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        members.add(member(parser));
      }
      if (parser.nextToken() != null) {
        throw new InvalidChatRequestException("something follows the JSON object of the body");
      }
      return new ChatRequest(body, objectStart, members);
    } catch (IOException malformed) {
      throw new InvalidChatRequestException(
          "the body is " + MalformedJsonException.from(malformed).getMessage());
    }
  }

  public boolean stream() {
    return stream;
  }

  /** The model asked for; empty if none was named. */
  public String model() {
    return model;
  }

  /** Number of answers asked for ({@code n}), at least 1. */
  public int choices() {
    return choices;
  }

  /**
   * The body for the engine: with the default temperature if there is none, with usage asked for in
   * streams, without {@code stream_options} otherwise. The sender's own array if nothing changes.
   *
   * @param maxTokens the most that the engine gives, if the sender asked for more
   */
  public byte[] bodyFor(OptionalDouble defaultTemperature, OptionalLong maxTokens) {
    List<Edit> edits = new ArrayList<>();
    maxTokens.ifPresent(
        allowed -> {
          // The newer name counts where both are given.
          String name =
              byName.containsKey("max_completion_tokens") ? "max_completion_tokens" : "max_tokens";
          edits.add(set(name, byName.get(name), String.valueOf(allowed)));
        });
    defaultTemperature.ifPresent(
        temperature -> {
          Member given = byName.get("temperature");
          if (given == null || given.kind() == JsonToken.VALUE_NULL) {
            edits.add(set("temperature", given, Json.write(temperature)));
          }
        });
    streamOptionsEdit().ifPresent(edits::add);
    return edits.isEmpty() ? body : applied(edits);
  }

  private Optional<Edit> streamOptionsEdit() {
    Member given = byName.get("stream_options");
    if (!stream) {
      return given == null ? Optional.empty() : Optional.of(removal(given));
    }
    Map<String, @Nullable Object> options = new LinkedHashMap<>();
    if (given != null && given.kind() == JsonToken.START_OBJECT) {
      options.putAll(Json.object(sourceOf(given)));
    }
    if (Boolean.TRUE.equals(options.get("include_usage"))) {
      return Optional.empty();
    }
    options.put("include_usage", true);
    return Optional.of(set("stream_options", given, Json.write(options)));
  }

  private Edit set(String name, @Nullable Member given, String json) {
    // A request has at least its messages, so something always follows what is put in front.
    return given == null
        ? new Edit(objectStart + 1, objectStart + 1, "\"" + name + "\":" + json + ",")
        : new Edit(given.valueStart(), given.valueEnd(), json);
  }

  private Edit removal(Member member) {
    int index = members.indexOf(member);
    if (index + 1 < members.size()) {
      return new Edit(member.nameStart(), members.get(index + 1).nameStart(), "");
    }
    return new Edit(members.get(index - 1).valueEnd(), member.valueEnd(), "");
  }

  private byte[] applied(List<Edit> edits) {
    List<Edit> ordered = new ArrayList<>(edits);
    ordered.sort((a, b) -> Integer.compare(a.start(), b.start()));
    ByteArrayOutputStream out = new ByteArrayOutputStream(body.length + 128);
    int kept = 0;
    for (Edit edit : ordered) {
      out.write(body, kept, edit.start() - kept);
      out.writeBytes(edit.replacement().getBytes(StandardCharsets.UTF_8));
      kept = edit.end();
    }
    out.write(body, kept, body.length - kept);
    return out.toByteArray();
  }

  private String sourceOf(Member member) {
    return new String(
        body, member.valueStart(), member.valueEnd() - member.valueStart(), StandardCharsets.UTF_8);
  }

  private static Member member(JsonParser parser) throws IOException {
    String name = parser.currentName();
    int nameStart = tokenStart(parser);
    JsonToken kind = parser.nextToken();
    int valueStart = tokenStart(parser);
    boolean wanted = name.equals("model") || name.equals("n");
    String value = wanted && kind.isScalarValue() ? parser.getText() : "";
    parser.skipChildren();
    parser.finishToken();
    return new Member(name, kind, value, nameStart, valueStart, tokenEnd(parser));
  }

  private static int tokenStart(JsonParser parser) {
    return Math.toIntExact(parser.currentTokenLocation().getByteOffset());
  }

  private static int tokenEnd(JsonParser parser) {
    return Math.toIntExact(parser.currentLocation().getByteOffset());
  }

  /**
   * The text of the first message, if it is one of the system; of a list of parts, the first text.
   * Empty otherwise.
   */
  public String systemText() {
    return SYSTEM_ROLES.contains(ofFirstMessage("role")) ? ofFirstMessage("content") : "";
  }

  /** A field of the first message as text, and none of its other fields: they can be long. */
  private String ofFirstMessage(String field) {
    Member messages = byName.get("messages");
    if (messages == null) {
      return "";
    }
    int length = messages.valueEnd() - messages.valueStart();
    try (JsonParser parser =
        Json.MAPPER.getFactory().createParser(body, messages.valueStart(), length)) {
      parser.nextToken();
      return parser.nextToken() == JsonToken.START_OBJECT ? text(parser, field) : "";
    } catch (IOException impossible) {
      throw new IllegalStateException("the body was read before", impossible);
    }
  }

  private static String text(JsonParser parser, String field) throws IOException {
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      boolean wanted = parser.currentName().equals(field);
      JsonToken value = parser.nextToken();
      if (wanted) {
        return switch (value) {
          case VALUE_STRING -> parser.getText();
          case START_ARRAY -> firstText(parser);
          default -> "";
        };
      }
      parser.skipChildren();
    }
    return "";
  }

  /** Of a list of parts. */
  private static String firstText(JsonParser parser) throws IOException {
    String text = "";
    boolean first = true;
    for (JsonToken part = parser.nextToken();
        part != JsonToken.END_ARRAY;
        part = parser.nextToken()) {
      if (first && part == JsonToken.START_OBJECT) {
        text = textField(parser);
      } else {
        parser.skipChildren();
      }
      first = false;
    }
    return text;
  }

  private static String textField(JsonParser parser) throws IOException {
    String text = "";
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      String name = parser.currentName();
      if (parser.nextToken() == JsonToken.VALUE_STRING && name.equals("text")) {
        text = parser.getText();
      } else {
        parser.skipChildren();
      }
    }
    return text;
  }

  private static boolean readStream(@Nullable Member member) throws InvalidChatRequestException {
    if (member == null) {
      return false;
    }
    return switch (member.kind()) {
      case VALUE_TRUE -> true;
      case VALUE_FALSE, VALUE_NULL -> false;
      default -> throw new InvalidChatRequestException("stream must be true or false");
    };
  }

  private static String readModel(@Nullable Member member) throws InvalidChatRequestException {
    if (member == null || member.kind() == JsonToken.VALUE_NULL) {
      return "";
    }
    if (member.kind() != JsonToken.VALUE_STRING) {
      throw new InvalidChatRequestException("model must be a string");
    }
    return member.value();
  }

  private static int readChoices(@Nullable Member member) throws InvalidChatRequestException {
    if (member == null || member.kind() == JsonToken.VALUE_NULL) {
      return 1;
    }
    if (member.kind() != JsonToken.VALUE_NUMBER_INT || !member.value().matches("[1-9][0-9]{0,2}")) {
      throw new InvalidChatRequestException("n must be an integer from 1 to 999");
    }
    return Integer.parseInt(member.value());
  }
}
