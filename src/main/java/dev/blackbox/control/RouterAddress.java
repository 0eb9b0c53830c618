package dev.blackbox.control;

import dev.blackbox.kernel.Problem;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Map;

/**
 * Where the engine is. Source: reference server, section 8.4 "Router normalisation"; an address
 * without a host is refused with 400 there where the reference fails with a bare 500.
 *
 * @param origin scheme and authority
 * @param baseUrl origin and path, without trailing slashes
 * @param apiPath path with its leading slash, trailing slashes kept
 */
record RouterAddress(URI origin, String baseUrl, String apiPath) {

  static RouterAddress parse(String router, String routerApiPath) {
    String trimmed = router.trim();
    String absolute = trimmed.contains("://") ? trimmed : "http://" + trimmed;
    URI uri;
    try {
      uri = new URI(absolute);
    } catch (URISyntaxException malformed) {
      throw invalid(router, "it is not a URL: " + malformed.getReason());
    }
    String scheme = String.valueOf(uri.getScheme());
    if (!scheme.equals("http") && !scheme.equals("https")) {
      throw invalid(router, "its scheme must be http or https");
    }
    String authority = uri.getRawAuthority();
    if (authority == null || authority.isEmpty() || uri.getHost() == null) {
      throw invalid(router, "it has no host");
    }
    String ownPath = uri.getRawPath() == null ? "" : uri.getRawPath();
    String path = !ownPath.isEmpty() ? ownPath : routerApiPath.isEmpty() ? "/v1" : routerApiPath;
    String apiPath = path.startsWith("/") ? path : "/" + path;
    String origin = scheme + "://" + authority;
    return new RouterAddress(URI.create(origin), withoutTrailingSlashes(origin + apiPath), apiPath);
  }

  /**
   * The API path as a prefix for further path segments: without trailing slashes, so empty for
   * {@code /}.
   */
  String apiPrefix() {
    return withoutTrailingSlashes(apiPath);
  }

  private static String withoutTrailingSlashes(String text) {
    int end = text.length();
    while (end > 0 && text.charAt(end - 1) == '/') {
      end--;
    }
    return text.substring(0, end);
  }

  private static Problem invalid(String router, String why) {
    return Problem.badRequest(
        "router must name the engine, such as http://127.0.0.1:8800/v1; got \""
            + router
            + "\": "
            + why
            + ".",
        Map.of("router", router));
  }
}
