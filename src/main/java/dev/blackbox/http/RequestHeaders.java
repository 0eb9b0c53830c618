package dev.blackbox.http;

import io.helidon.http.Header;
import io.helidon.http.HeaderNames;
import io.helidon.http.Headers;
import java.util.List;
import java.util.Optional;

/** The headers of one request, by their names in lower case. */
final class RequestHeaders {

  private final Headers headers;

  RequestHeaders(Headers headers) {
    this.headers = headers;
  }

  /** Each line of that name, in order; lists within a line are not taken apart. */
  List<String> all(String name) {
    return headers.contains(HeaderNames.create(name)) ? header(name).allValues() : List.of();
  }

  private Header header(String name) {
    return headers.get(HeaderNames.create(name));
  }

  Optional<String> first(String name) {
    return headers.first(HeaderNames.create(name));
  }

  /** Whether some line begins with its colon, which Helidon 4.5.0 takes for a header. */
  boolean hasNameless() {
    for (Header header : headers) {
      if (header.name().isBlank()) {
        return true;
      }
    }
    return false;
  }

  /** All lines of that name as one list, as RFC 9110, 5.3 allows; empty if there is none. */
  String joined(String name) {
    return String.join(",", all(name));
  }
}
