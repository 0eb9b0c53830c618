package dev.blackbox.translate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.blackbox.translate.TranslationOptions.SystemPlacement;
import dev.blackbox.wire.Json;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/** The cases of this room, and how their expectations are checked. */
final class Corpus {

  private static final Object ABSENT = new Object();

  private Corpus() {}

  /** The cases of one file; each has a name. */
  static List<Map<String, @Nullable Object>> cases(String file) {
    try (InputStream in = Corpus.class.getResourceAsStream(file)) {
      assertThat(in).as(file).isNotNull();
      String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      List<Map<String, @Nullable Object>> cases = new ArrayList<>();
      for (Object item : Json.array(text)) {
        cases.add(object(item));
      }
      assertThat(cases).isNotEmpty();
      return cases;
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  static String name(Map<String, @Nullable Object> one) {
    return String.valueOf(one.get("name"));
  }

  /** Object of a tree, or an empty one. */
  @SuppressWarnings("unchecked")
  static Map<String, @Nullable Object> object(@Nullable Object tree) {
    return tree instanceof Map<?, ?> map ? (Map<String, @Nullable Object>) map : Map.of();
  }

  static List<?> list(@Nullable Object tree) {
    return tree instanceof List<?> list ? list : List.of();
  }

  /** Checks a tree against pointers and the values that stand there. */
  static void check(Map<String, @Nullable Object> tree, @Nullable Object expectations) {
    object(expectations)
        .forEach(
            (pointer, value) -> {
              Object found = at(tree, pointer);
              if ("@SIGNATURE".equals(value)) {
                assertThat(found).as(pointer).asString().hasSize(32);
              } else {
                // Numbers as JSON shows them: 7 and 7L are one.
                assertThat(found == ABSENT ? "absent" : Json.write(found))
                    .as(pointer)
                    .isEqualTo(Json.write(value));
              }
            });
  }

  static void checkAbsent(Map<String, @Nullable Object> tree, @Nullable Object pointers) {
    for (Object pointer : list(pointers)) {
      assertThat(at(tree, String.valueOf(pointer))).as(String.valueOf(pointer)).isSameAs(ABSENT);
    }
  }

  private static @Nullable Object at(@Nullable Object tree, String pointer) {
    Object here = tree;
    for (String step : pointer.substring(1).split("/")) {
      if (here instanceof Map<?, ?> map && map.containsKey(step)) {
        here = map.get(step);
      } else if (here instanceof List<?> items && Integer.parseInt(step) < items.size()) {
        here = items.get(Integer.parseInt(step));
      } else {
        return ABSENT;
      }
    }
    return here;
  }

  static TranslationOptions options(Map<String, @Nullable Object> one) {
    Map<String, @Nullable Object> given = object(one.get("options"));
    TranslationOptions usual = TranslationOptions.DEFAULT;
    return new TranslationOptions(
        "IN_PLACE".equals(given.get("system")) ? SystemPlacement.IN_PLACE : usual.system(),
        !Boolean.FALSE.equals(given.get("topK")),
        !Boolean.FALSE.equals(given.get("reasoningHistory")),
        usual.reasoningEffort(),
        Boolean.TRUE.equals(given.get("singleToolCalls")),
        given.get("maxTokensMax") instanceof Integer most
            ? OptionalInt.of(most)
            : OptionalInt.empty());
  }

  /** Ids that count up, each prefix for itself. */
  static IdSource counting() {
    Map<String, Integer> counts = new java.util.HashMap<>();
    return prefix -> prefix + counts.merge(prefix, 1, Integer::sum);
  }
}
