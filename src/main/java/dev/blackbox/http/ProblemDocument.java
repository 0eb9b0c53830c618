package dev.blackbox.http;

import dev.blackbox.kernel.Problem;
import io.helidon.http.Status;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * An error as it goes out: the reference server's {@code error}, {@code message} and {@code
 * details}, and before them the members of RFC 9457 for a client that asks for those.
 */
final class ProblemDocument {

  static final String MEDIA_TYPE = "application/problem+json";

  private static final Pattern QUALITY = Pattern.compile("(?i);\\s*q=([^;]*)");

  private ProblemDocument() {}

  /** Whether {@code Accept} names problem documents, and does not prefer plain JSON. */
  static boolean isWanted(String accept) {
    double problem = quality(accept, MEDIA_TYPE);
    return problem > 0 && problem >= quality(accept, "application/json");
  }

  static Map<String, @Nullable Object> fields(Problem problem) {
    Map<String, @Nullable Object> fields = new LinkedHashMap<>();
    fields.put("error", problem.code().wireName());
    fields.put("message", problem.text());
    fields.put("details", problem.details());
    return fields;
  }

  /** The members of RFC 9457. What kind of problem it is, {@code error} says. */
  static Map<String, @Nullable Object> members(int status, Problem problem) {
    String phrase = Status.create(status).reasonPhrase();
    Map<String, @Nullable Object> fields = new LinkedHashMap<>();
    fields.put("type", "about:blank");
    fields.put(
        "title",
        phrase == null || phrase.isEmpty() ? problem.code().wireName().replace('_', ' ') : phrase);
    fields.put("status", status);
    fields.put("detail", problem.text());
    return fields;
  }

  private static double quality(String accept, String mediaType) {
    double best = 0;
    for (String range : accept.split(",", -1)) {
      String name = range.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
      if (name.equals(mediaType)) {
        Matcher quality = QUALITY.matcher(range);
        best = Math.max(best, quality.find() ? number(quality.group(1).strip()) : 1);
      }
    }
    return best;
  }

  private static double number(String text) {
    try {
      return Double.parseDouble(text);
    } catch (NumberFormatException malformed) {
      return 0;
    }
  }
}
