package dev.blackbox.translate;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.jspecify.annotations.Nullable;

/** What random conversations are made of; the same for the same seed. */
final class RandomTalk {

  private static final List<String> PIECES =
      List.of("a", " ", "\n", "é", "🦜", "\"", "\\", "\r", "data:", "\u0000", "</s>", "ERROR");

  private final RandomGenerator random;
  private int counter;

  RandomTalk(long seed) {
    random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
  }

  /** True once in so many times. */
  boolean once(int in) {
    return random.nextInt(in) == 0;
  }

  /** From 0 to below. */
  int below(int bound) {
    return random.nextInt(bound);
  }

  <T> T one(List<T> of) {
    return of.get(random.nextInt(of.size()));
  }

  /** A number that was not given before. */
  int next() {
    return counter++;
  }

  /** No two are the same, so that a mistaken order is seen. */
  String text() {
    StringBuilder text = new StringBuilder("t" + next());
    for (int i = below(8); i > 0; i--) {
      text.append(one(PIECES));
    }
    return text.append('.').toString();
  }

  /** As {@link #text}, and now and then empty. */
  String textOrNothing() {
    return once(8) ? "" : text();
  }

  String imageUrl() {
    return once(2) ? "https://images.test/" + next() + ".png" : "data:image/png;base64,AA" + next();
  }

  Map<String, @Nullable Object> arguments() {
    Map<String, @Nullable Object> arguments = new LinkedHashMap<>();
    for (int n = below(4); n > 0; n--) {
      arguments.put("k" + n + (once(4) ? "é" : ""), value());
    }
    return arguments;
  }

  private @Nullable Object value() {
    return switch (below(6)) {
      case 0 -> below(1000) - 500;
      case 1 -> below(1000) / 8.0;
      case 2 -> null;
      case 3 -> List.of(below(9), text());
      case 4 -> Map.of("in", text());
      default -> text();
    };
  }

  /** An object of these fields, in this order. */
  static Map<String, @Nullable Object> object(@Nullable Object... keysAndValues) {
    Map<String, @Nullable Object> object = new LinkedHashMap<>();
    for (int i = 0; i < keysAndValues.length; i += 2) {
      object.put(String.valueOf(keysAndValues[i]), keysAndValues[i + 1]);
    }
    return object;
  }
}
