package dev.blackbox.http;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The place of a request in its caller's trace (W3C Trace Context), kept with the turn as {@code
 * metadata.traceparent} and {@code metadata.tracestate}. What is malformed is ignored, as the
 * specification says: a broken trace is no reason to refuse work.
 */
final class TraceContext {

  /** The keys in a turn's metadata. */
  static final String PARENT = "traceparent";

  static final String STATE = "tracestate";

  /** Section 3.2: version, trace id, parent id, flags; later versions may append to them. */
  private static final Pattern FORMAT =
      Pattern.compile("([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?");

  private static final String ZEROS = "0{16,32}";

  /** Section 3.3.1.5: what must be passed on at least; longer ones we drop. */
  private static final int STATE_LENGTH_MAX = 512;

  private static final Pattern STATE_FORMAT = Pattern.compile("[\\x20-\\x7e\\t]+");

  private TraceContext() {}

  /** The metadata with what the headers say; headers win over keys of the same name. */
  static Map<String, @Nullable Object> into(
      Map<String, @Nullable Object> metadata, RequestHeaders headers) {
    List<String> parents = headers.all(PARENT);
    if (parents.size() != 1 || !isValid(parents.getFirst())) {
      return metadata;
    }
    Map<String, @Nullable Object> traced = new LinkedHashMap<>(metadata);
    traced.put(PARENT, parents.getFirst());
    traced.remove(STATE);
    String state = headers.joined(STATE);
    if (state.length() <= STATE_LENGTH_MAX && STATE_FORMAT.matcher(state).matches()) {
      traced.put(STATE, state);
    }
    return traced;
  }

  private static boolean isValid(String parent) {
    Matcher parts = FORMAT.matcher(parent);
    return parts.matches()
        && !parts.group(1).equals("ff")
        && !(parts.group(1).equals("00") && parts.group(4) != null)
        && parent.length() <= STATE_LENGTH_MAX
        && !parts.group(2).matches(ZEROS)
        && !parts.group(3).matches(ZEROS);
  }
}
