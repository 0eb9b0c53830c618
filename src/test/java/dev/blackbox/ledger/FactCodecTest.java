package dev.blackbox.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.blackbox.wire.Json;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class FactCodecTest {

  private static final Instant AT = Instant.parse("2026-01-02T03:04:05.678901Z");

  @Test
  void everyKindOfFactIsInTheTable() {
    Set<Class<?>> inTable =
        FactCodec.SHAPES.stream().map(FactCodec.Shape::fact).collect(Collectors.toSet());
    assertThat(inTable)
        .isEqualTo(new HashSet<>(Arrays.asList(Fact.class.getPermittedSubclasses())));
    assertThat(FactCodec.SHAPES.stream().map(FactCodec.Shape::type)).doesNotHaveDuplicates();
  }

  static Stream<Class<? extends Fact>> kinds() {
    return FactCodec.SHAPES.stream().map(FactCodec.Shape::fact);
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void everyKindComesBackAsItWas(Class<? extends Fact> kind) throws Exception {
    for (int seed = 0; seed < 50; seed++) {
      Fact fact = sample(kind, new Random(seed));
      FactCodec.Encoded encoded = FactCodec.encode(fact);
      assertThat(FactCodec.decode(encoded)).as("seed %d", seed).isEqualTo(fact);
      assertThat(FactCodec.encode(FactCodec.decode(encoded))).isEqualTo(encoded);
    }
  }

  /** What the rows are made of now must be what they are made of when the journal is applied. */
  @ParameterizedTest
  @MethodSource("kinds")
  void valuesAppliedNowAreThoseThatTheTextGivesBack(Class<? extends Fact> kind) throws Exception {
    for (int seed = 0; seed < 50; seed++) {
      FactCodec.Written written = FactCodec.write(sample(kind, new Random(seed)));
      Fact back = FactCodec.decode(written.encoded());
      assertThat(written.values()).as("seed %d", seed).isEqualTo(FactCodec.values(back));
      assertThat(written.type()).isEqualTo(FactCodec.type(back));
    }
  }

  @Test
  void valuesThatTheTextCannotHoldAreAppliedAsItHoldsThem() throws Exception {
    for (Fact fact :
        List.of(
            new Fact.SessionAborted(AT.plusNanos(7), 1, "whole"),
            new Fact.SessionAborted(AT, 1, "bad \ud800 body"),
            new Fact.BindingClosed(AT, 1, "rt", "bad \udfff field"),
            new Fact.BindingClosed(AT, 1, "rt", "good \ud83d\ude00 field"))) {
      FactCodec.Written written = FactCodec.write(fact);
      assertThat(written.values()).isEqualTo(FactCodec.values(FactCodec.decode(written.encoded())));
    }
  }

  @Test
  void headsShowNoBodies() {
    Fact fact =
        new Fact.TurnQueued(AT, 1, "t", 1, false, "fp", 1, "the secret request", "the metadata");
    FactCodec.Encoded encoded = FactCodec.encode(fact);
    assertThat(encoded.bodies()).containsExactly("the secret request", "the metadata");
    assertThat(encoded.head())
        .doesNotContain("secret")
        .contains("\"length\":18")
        .contains("\"at\":\"2026-01-02T03:04:05.678901Z\"");
  }

  @Test
  void unknownFieldsAreIgnoredAndAbsentOnesHaveDefaults() throws Exception {
    Fact read =
        FactCodec.decode(
            new FactCodec.Encoded(
                "{\"type\":\"binding_opened\",\"binding_key\":3,\"invented_later\":[1]}",
                List.of()));
    assertThat(read)
        .isEqualTo(
            new Fact.BindingOpened(
                Instant.EPOCH,
                3,
                "",
                0,
                "",
                "",
                "",
                0,
                "",
                "",
                0,
                Optional.empty(),
                false,
                "",
                Optional.empty(),
                "",
                "",
                Optional.empty()));
  }

  @Test
  void anUnknownKindIsOfANewerVersion() {
    assertThatThrownBy(
            () -> FactCodec.decode(new FactCodec.Encoded("{\"type\":\"teleported\"}", List.of())))
        .isInstanceOf(FactCodec.UnknownFactException.class)
        .hasMessageContaining("teleported");
  }

  @Test
  void aLoneSurrogateIsTheSameNowAndAfterARebuild() throws Exception {
    Fact fact = new Fact.SessionAborted(AT, 1, "bad \ud800 text \ud83d\ude00");
    FactCodec.Encoded encoded = FactCodec.encode(fact);
    assertThat(encoded.bodies()).containsExactly("bad ? text \ud83d\ude00");
    JournalRecord record = new JournalRecord(1, 0, Chain.START.hash(), encoded);
    JournalRecord back = JournalRecord.ofChecked(record.toBytes().position(8).slice());
    assertThat(FactCodec.decode(back.fact())).isEqualTo(FactCodec.decode(encoded));
  }

  /**
   * Heads as each schema version wrote them: all kinds of the first, what is new in the later ones.
   * They must be readable for ever: never edit such a file, add one for each later version.
   */
  @Test
  void factsOfEveryLandedVersionAreRead() throws Exception {
    List<String> heads = new ArrayList<>(landed("facts-v1.jsonl"));
    heads.addAll(landed("facts-v2.jsonl"));
    heads.addAll(landed("facts-v3.jsonl"));
    heads.addAll(landed("facts-v4.jsonl"));
    heads.addAll(landed("facts-v5.jsonl"));
    heads.addAll(landed("facts-v6.jsonl"));
    Set<Object> types = new HashSet<>();
    for (String head : heads) {
      Map<String, Object> tree = Json.object(head);
      long bodies = tree.values().stream().filter(Map.class::isInstance).count();
      Fact fact =
          FactCodec.decode(new FactCodec.Encoded(head, Collections.nCopies((int) bodies, "body")));
      Map<String, Object> again = Json.object(FactCodec.encode(fact).head());
      assertThat(again.keySet()).isEqualTo(tree.keySet());
      tree.values().removeIf(Map.class::isInstance);
      assertThat(again).containsAllEntriesOf(tree);
      types.add(tree.get("type"));
    }
    assertThat(types)
        .hasSize(28)
        .isSubsetOf(FactCodec.SHAPES.stream().map(FactCodec.Shape::type).toList());
  }

  private static List<String> landed(String name) throws IOException {
    try (InputStream file = FactCodecTest.class.getResourceAsStream(name)) {
      return new String(file.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    }
  }

  static Fact sample(Class<? extends Fact> kind, Random random) throws Exception {
    RecordComponent[] components = kind.getRecordComponents();
    Object[] values = new Object[components.length];
    Class<?>[] types = new Class<?>[components.length];
    for (int i = 0; i < components.length; i++) {
      types[i] = components[i].getType();
      values[i] = sample(components[i].getGenericType().getTypeName(), random);
    }
    var constructor = kind.getDeclaredConstructor(types);
    constructor.setAccessible(true);
    return constructor.newInstance(values);
  }

  private static Object sample(String type, Random random) {
    return switch (type) {
      case "java.lang.String" -> text(random);
      case "long" -> random.nextLong();
      case "int" -> random.nextInt();
      case "double" -> random.nextDouble();
      case "boolean" -> random.nextBoolean();
      case "java.time.Instant" -> time(random);
      case "java.util.OptionalLong" ->
          random.nextBoolean() ? OptionalLong.of(random.nextLong()) : OptionalLong.empty();
      case "java.util.OptionalInt" ->
          random.nextBoolean() ? OptionalInt.of(random.nextInt()) : OptionalInt.empty();
      case "java.util.Optional<java.lang.String>" ->
          random.nextBoolean() ? Optional.of(text(random)) : Optional.empty();
      case "java.util.Optional<java.time.Instant>" ->
          random.nextBoolean() ? Optional.of(time(random)) : Optional.empty();
      default -> throw new IllegalStateException(type);
    };
  }

  private static String text(Random random) {
    List<String> words = List.of("", "a", "\"\\\u0000\u001f", "für", "日本", "\ud83d\ude00", "{}\n");
    return random
        .ints(random.nextInt(6), 0, words.size())
        .mapToObj(words::get)
        .collect(Collectors.joining("-"));
  }

  private static Instant time(Random random) {
    return AT.plusNanos(random.nextLong(1L << 50)).truncatedTo(ChronoUnit.MICROS);
  }
}
