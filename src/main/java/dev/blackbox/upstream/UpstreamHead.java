package dev.blackbox.upstream;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The head of an engine's answer.
 *
 * @param headers by lower-case name
 */
public record UpstreamHead(int status, Map<String, List<String>> headers) {

  public boolean isSuccess() {
    return status >= 200 && status < 300;
  }

  /** The first value of a header, whose name is given in lower case. */
  public Optional<String> header(String name) {
    return headers.getOrDefault(name, List.of()).stream().findFirst();
  }
}
