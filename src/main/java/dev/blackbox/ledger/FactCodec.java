package dev.blackbox.ledger;

import dev.blackbox.wire.Fingerprints;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.Timestamps;
import java.lang.reflect.Constructor;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Facts as text and back. A fact becomes a <em>head</em>, compact JSON with {@code type} and one
 * snake-case field per component that is present, and its <em>bodies</em>: texts that may be large
 * or private, which the head names only by {@code {"sha256":…,"length":…}} (of their UTF-8 bytes).
 * So the hash chain over the heads covers the bodies, which can live elsewhere, and can be dropped
 * one day.
 *
 * <p>Reading: fields that the record does not have are ignored; absent ones become {@code ""}, 0,
 * false, empty, or the epoch.
 */
final class FactCodec {

  /**
   * One kind of fact.
   *
   * @param type its name in heads
   * @param home where its bodies are stored; the columns are named as the fields
   */
  record Shape(String type, Class<? extends Fact> fact, List<String> bodies, Home home) {}

  /** The row that holds the bodies of a fact: the table, and the fields that find the row. */
  record Home(String table, List<String> key) {
    static final Home NONE = new Home("", List.of());
  }

  /** A fact as it is written: its head, and its bodies in the order of its {@link Shape}. */
  record Encoded(String head, List<String> bodies) {}

  static final List<Shape> SHAPES =
      List.of(
          plain("boot_started", Fact.BootStarted.class),
          plain("boot_ended", Fact.BootEnded.class),
          shape("config_seen", Fact.ConfigSeen.class, "config/config_hash", "content"),
          shape(
              "binding_opened",
              Fact.BindingOpened.class,
              "binding/binding_key",
              "parameters_json",
              "view_json",
              "system_prompt_text"),
          plain("binding_state_changed", Fact.BindingStateChanged.class),
          plain("binding_closed", Fact.BindingClosed.class),
          plain("pause_changed", Fact.PauseChanged.class),
          plain("session_opened", Fact.SessionOpened.class),
          shape(
              "session_desynced",
              Fact.SessionDesynced.class,
              "session/session_key",
              "desync_reason"),
          shape(
              "session_aborted", Fact.SessionAborted.class, "session/session_key", "abort_reason"),
          shape("session_trimmed", Fact.SessionTrimmed.class, "trimmed/session_key", "content"),
          plain("session_erased", Fact.SessionErased.class),
          plain("backend_session_seen", Fact.BackendSessionSeen.class),
          shape(
              "turn_queued",
              Fact.TurnQueued.class,
              "turn/session_key/turn_id",
              "request",
              "metadata"),
          plain("turn_started", Fact.TurnStarted.class),
          plain("turn_cancel_requested", Fact.TurnCancelRequested.class),
          shape(
              "turn_settled",
              Fact.TurnSettled.class,
              "turn/session_key/turn_id",
              "error_message",
              "error_details",
              "outputs",
              "trace"),
          shape("command_queued", Fact.CommandQueued.class, "command/command_number", "command"),
          plain("command_begun", Fact.CommandBegun.class),
          shape("command_started", Fact.CommandStarted.class, "command/command_number", "command"),
          shape(
              "command_ended",
              Fact.CommandEnded.class,
              "command/command_number",
              "result",
              "error"),
          plain("command_interrupted", Fact.CommandInterrupted.class),
          plain("process_started", Fact.ProcessStarted.class),
          plain("process_ended", Fact.ProcessEnded.class),
          plain("call_started", Fact.CallStarted.class),
          shape("call_ended", Fact.CallEnded.class, "model_call/call_id", "error"),
          plain("call_interrupted", Fact.CallInterrupted.class),
          plain("call_refused", Fact.CallRefused.class));

  private static final Map<String, Plan> BY_TYPE =
      SHAPES.stream().map(Plan::of).collect(Collectors.toMap(p -> p.shape.type, p -> p));
  private static final Map<Class<?>, Plan> BY_CLASS =
      BY_TYPE.values().stream().collect(Collectors.toMap(p -> p.shape.fact, p -> p));

  private FactCodec() {}

  /**
   * A fact as text and as values.
   *
   * @param type its name in heads
   * @param values its components under their field names, optional ones as values or null; exactly
   *     those that reading the text back gives
   */
  record Written(String type, Encoded encoded, Map<String, @Nullable Object> values) {}

  static Encoded encode(Fact fact) {
    return write(fact).encoded;
  }

  /** The text, and the values that it stands for without reading it back. */
  static Written write(Fact fact) {
    Plan plan = known(BY_CLASS.get(fact.getClass()), fact.getClass().getName());
    Map<String, @Nullable Object> head = new LinkedHashMap<>();
    Map<String, @Nullable Object> values = new LinkedHashMap<>();
    head.put("type", plan.shape.type);
    List<String> bodies = new ArrayList<>(plan.shape.bodies.size());
    boolean exact = true;
    for (Field field : plan.fields) {
      Object value = unwrapped(field.read(fact));
      values.put(field.name, value);
      if (value == null) {
        continue;
      }
      exact &= comesBackAsItIs(value);
      if (plan.shape.bodies.contains(field.name)) {
        String body = wellFormed((String) value);
        bodies.add(body);
        value = digest(body);
      }
      head.put(field.name, value instanceof Instant instant ? Timestamps.iso(instant) : value);
    }
    Encoded encoded = new Encoded(wellFormed(Json.write(head)), bodies);
    return new Written(plan.shape.type, encoded, exact ? values : valuesReadBack(encoded));
  }

  /** Text with surrogates may be repaired on its way, and fractions of microseconds are lost. */
  private static boolean comesBackAsItIs(Object value) {
    return switch (value) {
      case String text -> !hasSurrogate(text);
      case Instant instant -> instant.equals(instant.truncatedTo(ChronoUnit.MICROS));
      default -> true;
    };
  }

  private static Map<String, @Nullable Object> valuesReadBack(Encoded encoded) {
    try {
      return values(decode(encoded));
    } catch (UnknownFactException impossible) {
      throw new IllegalStateException("written just now", impossible);
    }
  }

  /**
   * @throws UnknownFactException if a newer version wrote it
   */
  static Fact decode(Encoded encoded) throws UnknownFactException {
    Map<String, @Nullable Object> head = Json.object(encoded.head);
    Plan plan = BY_TYPE.get(String.valueOf(head.get("type")));
    if (plan == null) {
      throw new UnknownFactException("unknown type of fact: " + head.get("type"));
    }
    int body = 0;
    @Nullable Object[] values = new Object[plan.fields.size()];
    for (int i = 0; i < values.length; i++) {
      Field field = plan.fields.get(i);
      Object value = head.get(field.name);
      if (value != null && plan.shape.bodies.contains(field.name)) {
        value = encoded.bodies.get(body++);
      }
      values[i] = field.read.apply(value);
    }
    return plan.make(values);
  }

  /** The name of a fact's kind in heads. */
  static String type(Fact fact) {
    return known(BY_CLASS.get(fact.getClass()), fact.getClass().getName()).shape.type;
  }

  /** The components of a fact under their field names, optional ones as values or null. */
  static Map<String, @Nullable Object> values(Fact fact) {
    Plan plan = known(BY_CLASS.get(fact.getClass()), fact.getClass().getName());
    Map<String, @Nullable Object> values = new LinkedHashMap<>();
    for (Field field : plan.fields) {
      values.put(field.name, unwrapped(field.read(fact)));
    }
    return values;
  }

  /** The shape of a fact by its head's {@code type}, if this version knows it. */
  static Optional<Shape> shape(@Nullable Object type) {
    return Optional.ofNullable(BY_TYPE.get(String.valueOf(type))).map(Plan::shape);
  }

  /** What a head says of a body. */
  static Map<String, Object> digest(String body) {
    byte[] utf8 = body.getBytes(StandardCharsets.UTF_8);
    Map<String, Object> digest = new LinkedHashMap<>();
    digest.put("sha256", Fingerprints.sha256Hex(utf8));
    digest.put("length", utf8.length);
    return digest;
  }

  /**
   * The text as it comes back from UTF-8: a lone surrogate becomes {@code ?}. Otherwise rows
   * written now and rows rebuilt from the journal could differ.
   */
  private static String wellFormed(String text) {
    return hasSurrogate(text)
        ? new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8)
        : text;
  }

  private static boolean hasSurrogate(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (Character.isSurrogate(text.charAt(i))) {
        return true;
      }
    }
    return false;
  }

  private static @Nullable Object unwrapped(Object value) {
    return switch (value) {
      case Optional<?> optional -> optional.orElse(null);
      case OptionalLong number -> number.isPresent() ? (Object) number.getAsLong() : null;
      case OptionalInt number -> number.isPresent() ? (Object) number.getAsInt() : null;
      default -> value;
    };
  }

  private static Function<@Nullable Object, Object> reader(RecordComponent component) {
    return switch (component.getGenericType().getTypeName()) {
      case "java.lang.String" -> value -> value == null ? "" : value;
      case "long" -> value -> value instanceof Number number ? number.longValue() : 0L;
      case "int" -> value -> value instanceof Number number ? number.intValue() : 0;
      case "double" -> value -> value instanceof Number number ? number.doubleValue() : 0.0;
      case "boolean" -> value -> Boolean.TRUE.equals(value);
      case "java.time.Instant" ->
          value -> value == null ? Instant.EPOCH : Instant.parse((String) value);
      case "java.util.OptionalLong" ->
          value ->
              value instanceof Number number
                  ? OptionalLong.of(number.longValue())
                  : OptionalLong.empty();
      case "java.util.OptionalInt" ->
          value ->
              value instanceof Number number
                  ? OptionalInt.of(number.intValue())
                  : OptionalInt.empty();
      case "java.util.Optional<java.lang.String>" -> Optional::ofNullable;
      case "java.util.Optional<java.time.Instant>" ->
          value -> Optional.ofNullable(value).map(text -> Instant.parse((String) text));
      default -> throw new IllegalStateException("a fact cannot have a component " + component);
    };
  }

  private static Shape plain(String type, Class<? extends Fact> fact) {
    return new Shape(type, fact, List.of(), Home.NONE);
  }

  private static Shape shape(
      String type, Class<? extends Fact> fact, String home, String... bodies) {
    List<String> path = List.of(home.split("/"));
    return new Shape(
        type, fact, List.of(bodies), new Home(path.getFirst(), path.subList(1, path.size())));
  }

  private static Plan known(@Nullable Plan plan, String name) {
    if (plan == null) {
      throw new IllegalStateException("not in the table of facts: " + name);
    }
    return plan;
  }

  private record Field(
      String name, RecordComponent component, Function<@Nullable Object, Object> read) {

    static Field of(RecordComponent component) {
      String snake = component.getName().replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
      component.getAccessor().setAccessible(true);
      return new Field(snake, component, reader(component));
    }

    Object read(Fact fact) {
      try {
        return component.getAccessor().invoke(fact);
      } catch (ReflectiveOperationException impossible) {
        throw new IllegalStateException("cannot read " + component, impossible);
      }
    }
  }

  private record Plan(Shape shape, List<Field> fields, Constructor<? extends Fact> constructor) {

    static Plan of(Shape shape) {
      RecordComponent[] components = shape.fact.getRecordComponents();
      Class<?>[] types = new Class<?>[components.length];
      List<Field> fields = new ArrayList<>(components.length);
      for (int i = 0; i < components.length; i++) {
        types[i] = components[i].getType();
        fields.add(Field.of(components[i]));
      }
      try {
        Constructor<? extends Fact> constructor = shape.fact.getDeclaredConstructor(types);
        constructor.setAccessible(true);
        return new Plan(shape, fields, constructor);
      } catch (NoSuchMethodException impossible) {
        throw new IllegalStateException("a record has its constructor: " + shape, impossible);
      }
    }

    Fact make(@Nullable Object[] values) {
      try {
        return constructor.newInstance(values);
      } catch (ReflectiveOperationException failure) {
        throw new IllegalStateException("cannot make " + shape.type, failure);
      }
    }
  }

  /** A fact of a type that this version does not know. */
  static final class UnknownFactException extends Exception {
    UnknownFactException(String message) {
      super(message);
    }
  }
}
