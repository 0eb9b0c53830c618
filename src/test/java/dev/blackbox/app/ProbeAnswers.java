package dev.blackbox.app;

import dev.blackbox.wire.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The answers to the contract probes, as the probes' runner writes them: one JSON object a line,
 * with placeholders for what is different each time.
 */
final class ProbeAnswers {

  /** Meant for people, or words of a library of the reference: they may differ. */
  private static final Set<String> WORDS = Set.of("message", "errors", "msg", "input", "ctx");

  private static final int VALUE_SHOWN_MAX = 120;

  private final Map<String, Map<String, @Nullable Object>> answers;

  private ProbeAnswers(Map<String, Map<String, @Nullable Object>> answers) {
    this.answers = answers;
  }

  static ProbeAnswers read(Path file) throws IOException {
    return of(Files.readAllLines(file));
  }

  static ProbeAnswers of(List<String> lines) {
    Map<String, Map<String, @Nullable Object>> answers = new LinkedHashMap<>();
    for (String line : lines) {
      Map<String, @Nullable Object> probe = Json.object(line);
      String name = probe.get("group") + "/" + probe.get("name");
      int again = 2;
      String unique = name;
      while (answers.containsKey(unique)) {
        unique = name + "." + again;
        again++;
      }
      answers.put(unique, probe);
    }
    return new ProbeAnswers(answers);
  }

  int size() {
    return answers.size();
  }

  /** By probe: in which way {@code others} answered otherwise. */
  Map<String, List<String>> differencesOf(ProbeAnswers others) {
    Map<String, List<String>> differences = new TreeMap<>();
    answers.forEach(
        (name, expected) -> {
          List<String> found = new ArrayList<>();
          Map<String, @Nullable Object> other = others.answers.get(name);
          if (other == null) {
            found.add("was not asked");
          } else {
            for (String part : List.of("status", "content_type", "response_body")) {
              compare(part, expected.get(part), other.get(part), found);
            }
          }
          if (!found.isEmpty()) {
            differences.put(name, found);
          }
        });
    return differences;
  }

  private static void compare(
      String place, @Nullable Object expected, @Nullable Object actual, List<String> found) {
    if (expected instanceof Map<?, ?> one && actual instanceof Map<?, ?> other) {
      Set<String> keys = new TreeSet<>();
      one.keySet().forEach(key -> keys.add(String.valueOf(key)));
      other.keySet().forEach(key -> keys.add(String.valueOf(key)));
      for (String key : keys) {
        if (!one.containsKey(key) || !other.containsKey(key)) {
          found.add(place + "." + key + (one.containsKey(key) ? " is missing" : " is more"));
        } else if (!WORDS.contains(key)) {
          compare(place + "." + key, one.get(key), other.get(key), found);
        }
      }
    } else if (expected instanceof List<?> one
        && actual instanceof List<?> other
        && one.size() == other.size()) {
      for (int at = 0; at < one.size(); at++) {
        compare(place + "." + at, one.get(at), other.get(at), found);
      }
    } else if (!Objects.equals(expected, actual)) {
      found.add(place + " is " + shown(actual) + ", not " + shown(expected));
    }
  }

  private static String shown(@Nullable Object value) {
    String json = Json.write(value);
    return json.length() <= VALUE_SHOWN_MAX ? json : json.substring(0, VALUE_SHOWN_MAX) + "…";
  }
}
