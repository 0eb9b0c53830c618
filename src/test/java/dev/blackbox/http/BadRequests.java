package dev.blackbox.http;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.IntStream;

/**
 * Makes requests that are wrong in one way each, every endpoint and every kind of wrong by turns;
 * the same seed makes the same request. They are for a server with the session {@code sess-1}.
 */
final class BadRequests {

  /** What must come of a request. In none of the cases does anything change. */
  enum Expected {
    /** An error of the client's, in the one shape. */
    REFUSED,
    /** Perhaps no error: what is odd does not matter there. */
    HARMLESS,
    /** The client goes away within it, and gets nothing. */
    LOST
  }

  /**
   * A request.
   *
   * @param what is wrong, for whoever reads of a failure
   */
  @SuppressWarnings("ArrayRecordComponent") // sent once, never compared
  record Sample(String what, byte[] bytes, Expected expected) {}

  private static final String SESSION = "/v1/sessions/sess-1";

  private static final Map<String, String> METHODS =
      new TreeMap<>(
          Map.ofEntries(
              Map.entry("/health", "GET"),
              Map.entry("/livez", "GET"),
              Map.entry("/readyz", "GET"),
              Map.entry("/openapi.json", "GET"),
              Map.entry("/v1/status", "GET"),
              Map.entry("/v1/rollout/pause_state", "GET"),
              Map.entry(BadFields.REGISTER, "POST"),
              Map.entry(BadFields.PAUSE, "POST"),
              Map.entry(BadFields.RESUME, "POST"),
              Map.entry(SESSION, "GET"),
              Map.entry(BadFields.MESSAGES, "POST"),
              Map.entry(BadFields.EXECUTE, "POST"),
              Map.entry(SESSION + "/commands", "GET"),
              Map.entry(SESSION + "/commands/none", "GET"),
              Map.entry(SESSION + "/commands/none/cancel", "POST"),
              Map.entry(SESSION + "/turns/none", "GET"),
              Map.entry(SESSION + "/turns/none/cancel", "POST"),
              Map.entry(SESSION + "/abort", "POST")));

  /** How many variants there are of each kind. */
  private static final int JSONS = 7;

  private static final int PATHS = 8;
  private static final int HEADS = 12;
  private static final int TRANSFERS = 8;

  private final SplittableRandom random;

  private BadRequests(long seed) {
    random = new SplittableRandom(seed);
  }

  static Sample of(long seed) {
    return new BadRequests(seed).make();
  }

  /** Every endpoint with every kind of wrong, and every field with every value that is refused. */
  static List<Sample> all(long seed) {
    BadRequests made = new BadRequests(seed);
    List<Sample> all = new ArrayList<>();
    made.eachField(BadFields.BAD, all);
    for (String path : METHODS.keySet()) {
      all.add(made.wrongMethod(path));
      IntStream.range(0, PATHS).forEach(each -> all.add(made.badPath(path, each)));
      IntStream.range(0, HEADS).forEach(each -> all.add(made.badHead(path, each)));
      if ("GET".equals(METHODS.get(path))) {
        all.add(made.odd(path));
      }
    }
    for (String path : BadFields.GOOD.keySet()) {
      TYPES.forEach(type -> all.add(wrongType(path, type)));
      IntStream.range(0, JSONS).forEach(each -> all.add(made.brokenJson(path, each)));
      IntStream.range(0, TRANSFERS).forEach(each -> all.add(made.badTransfer(path, each)));
    }
    return all;
  }

  /** Values that only the rollout behind the door refuses. */
  static List<Sample> behindTheDoor(long seed) {
    List<Sample> all = new ArrayList<>();
    new BadRequests(seed).eachField(BadFields.BAD_BEHIND, all);
    return all;
  }

  private void eachField(Map<String, Map<String, List<String>>> bad, List<Sample> all) {
    bad.forEach(
        (path, fields) ->
            fields.forEach(
                (field, values) -> values.forEach(value -> all.add(badField(path, field, value)))));
  }

  private Sample make() {
    String any = pick(List.copyOf(METHODS.keySet()));
    String withBody = pick(List.copyOf(BadFields.GOOD.keySet()));
    return switch (random.nextInt(11)) {
      case 0, 1, 2 -> badField();
      case 3 -> brokenJson(withBody, random.nextInt(JSONS));
      case 4 -> wrongType(withBody, pick(TYPES));
      case 5 -> wrongMethod(any);
      case 6 -> badPath(any, random.nextInt(PATHS));
      case 7 -> badQuery();
      case 8 -> badHead(any, random.nextInt(HEADS));
      case 9 -> badTransfer(withBody, random.nextInt(TRANSFERS));
      default -> odd("GET".equals(METHODS.get(any)) ? any : "/v1/status");
    };
  }

  private Sample badField() {
    String path = pick(List.copyOf(BadFields.BAD.keySet()));
    Map<String, List<String>> fields = new TreeMap<>(BadFields.BAD.getOrDefault(path, Map.of()));
    String field = pick(List.copyOf(fields.keySet()));
    return badField(path, field, pick(fields.getOrDefault(field, List.of())));
  }

  private Sample badField(String path, String field, String value) {
    Map<String, String> body = new TreeMap<>(BadFields.GOOD.getOrDefault(path, Map.of()));
    if (value.isEmpty()) {
      body.remove(field);
    } else {
      body.put(field, value);
    }
    if (random.nextBoolean()) {
      body.put("surprise" + random.nextInt(9), "{\"deep\":[1,null,\"x\"]}");
    }
    return post(path, field + " is " + value, utf8(json(body)), "application/json");
  }

  private Sample brokenJson(String path, int variant) {
    String good = json(BadFields.GOOD.getOrDefault(path, Map.of()));
    byte[] body =
        switch (variant) {
          case 0 -> utf8(good.substring(0, 1 + random.nextInt(good.length() - 1)));
          case 1 -> utf8(good + pick(List.of("{}", "]", "x", ",", "\0")));
          case 2 -> utf8("[".repeat(1 + random.nextInt(100_000)));
          case 3 -> utf8(good.substring(0, good.length() - 1) + ",\"x\":" + pick(NO_JSON) + "}");
          case 4 -> good.getBytes(StandardCharsets.UTF_16);
          case 5 -> withBadByte(utf8(good));
          default -> noise();
        };
    return post(path, "broken JSON", body, "application/json");
  }

  private static final List<String> NO_JSON =
      List.of(
          "'a'", "01", "+1", ".5", "tru", "\"\t\"", "\"\\x\"", "{a:1}", "[1,]", "\"", "undefined");

  private static final List<String> TYPES =
      List.of(
          "text/plain",
          "application/x-www-form-urlencoded",
          "multipart/form-data; boundary=x",
          "application/xml",
          "json",
          "*/*",
          "application/jsonp");

  private static Sample wrongType(String path, String type) {
    return post(
        path, "type " + type, utf8(json(BadFields.GOOD.getOrDefault(path, Map.of()))), type);
  }

  private Sample wrongMethod(String path) {
    String right = METHODS.getOrDefault(path, "");
    List<String> wrong =
        List.of("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "QUERY").stream()
            .filter(method -> !method.equals(right))
            .toList();
    String method = pick(wrong);
    return refused(method + " " + path, head(method, path, "") + "\r\n");
  }

  private Sample badPath(String path, int variant) {
    String target =
        switch (variant) {
          case 0 -> "/" + path;
          case 1 -> path + "/";
          case 2 -> "/x/.." + path;
          case 3 -> "/%2e%2e" + path;
          case 4 -> path.replaceFirst("/(?=[^/]*$)", "%2F");
          case 5 -> path.toUpperCase(java.util.Locale.ROOT);
          case 6 -> path + pick(List.of(";x=1", "%00", "%20", ".json", "%zz", "%", "%c0%ae"));
          default ->
              "/v1/sessions/"
                  + badId()
                  + pick(List.of("", "/turns/t", "/turns/" + badId(), "/commands/" + badId()));
        };
    String method = METHODS.getOrDefault(path, "GET");
    boolean post = method.equals("POST") && !target.contains("/sessions/");
    return refused(target, head(post ? "POST" : "GET", target, "") + "\r\n");
  }

  private String badId() {
    return pick(
        List.of(
            "-x",
            "..",
            "%2e%2e",
            "a%00b",
            "a%20b",
            "%ED%A0%80",
            "s%C3%A9",
            "a%2Fb",
            "a%zz",
            "x".repeat(129),
            "%252e",
            "_",
            "sess-1%0d%0aX:%20y"));
  }

  private Sample badQuery() {
    String query =
        switch (random.nextInt(5)) {
          case 3 -> "/commands/none?wait=" + pick(List.of("x", "", "-1", "nan", "1;2"));
          case 4 ->
              "/commands?"
                  + pick(List.of("after", "limit"))
                  + "="
                  + pick(List.of("-1", "x", "", "1.5", "99999999999", "%31%zz"));
          case 0 -> "/turns/none?wait=" + pick(List.of("x", "", "-1", "nan", "0x1", "%00", "1;2"));
          case 1 -> "?include_turns=" + pick(List.of("maybe", "", "2", "%ff", "true%20"));
          default -> "?limit=" + pick(List.of("0", "-1", "x", "", "1.5", "99999999999", "%31%zz"));
        };
    return refused(query, head("GET", SESSION + query, "") + "\r\n");
  }

  private Sample badHead(String path, int variant) {
    String method = METHODS.getOrDefault(path, "GET");
    String line = method + " " + path + " HTTP/1.1\r\n";
    String text =
        switch (variant) {
          case 0 -> line + "\r\n";
          case 1 -> line + "Host: localhost\r\nHost: localhost\r\n\r\n";
          case 2 -> line + "Host: evil.example\r\n\r\n";
          case 3 -> head(method, path, "Origin: http://evil.example\r\n") + "\r\n";
          case 4 -> head(method, path, "X-Y: z\r\n".repeat(5_000 + random.nextInt(5_000))) + "\r\n";
          case 5 -> head(method, path, "X-Big: " + "a".repeat(40_000) + "\r\n") + "\r\n";
          case 6 -> head(method, path, pick(BAD_HEADERS) + "\r\n") + "\r\n";
          case 7 -> line.replace("HTTP/1.1", pick(BAD_VERSIONS)) + "Host: localhost\r\n\r\n";
          case 8 -> head(method, path + "?" + "q".repeat(40_000), "") + "\r\n";
          case 9 -> line.replace(" ", pick(List.of("  ", "\t"))) + "Host: localhost\r\n\r\n";
          case 10 -> "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
          default -> pick(List.of("\0\0\0\0\r\n\r\n", "HELO\r\n\r\n", " \r\n\r\n", "GET\r\n\r\n"));
        };
    return refused("head of " + method + " " + path, text);
  }

  private static final List<String> BAD_HEADERS =
      List.of("no colon", "a b: c", "x\u0001: y", ": y", "é: y", "x: a\0b");
  private static final List<String> BAD_VERSIONS =
      List.of("HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "HTTP/9", "HTTPS/1.1", "x");

  private Sample badTransfer(String path, int variant) {
    String chunked = head("POST", path, "Transfer-Encoding: chunked\r\n") + "\r\n";
    String text =
        switch (variant) {
          case 0 ->
              chunked + pick(List.of("zz", "-5", "", "0x5", "5 5", "ffffffffff")) + "\r\nabcde\r\n";
          case 1 -> chunked + "7fffffff\r\n";
          case 2 -> head("POST", path, "Content-Length: " + pick(BAD_LENGTHS) + "\r\n") + "\r\n{}";
          case 3 ->
              head("POST", path, "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n") + "\r\n{}";
          case 4 -> head("POST", path, "Content-Length: 2\r\nContent-Length: 3\r\n") + "\r\n{} ";
          case 5 ->
              head("POST", path, "Content-Length: 2\r\nContent-Encoding: gzip\r\n") + "\r\n{}";
          case 6 -> {
            String half = head("POST", path, "Content-Length: 999\r\n") + "\r\n{\"cmd\":\"true\"";
            yield "LOST" + half;
          }
          default -> "LOST" + chunked + "5\r\n{\"a\":";
        };
    return text.startsWith("LOST")
        ? new Sample("half a body for " + path, utf8(text.substring(4)), Expected.LOST)
        : refused("transfer to " + path, text);
  }

  private static final List<String> BAD_LENGTHS =
      List.of("x", "-1", "1.5", "0x2", "99999999999999999999");

  /** Bodies where none is read, and other things that are nobody's business. */
  private Sample odd(String path) {
    byte[] body = noise();
    String headers = "Content-Length: " + body.length + "\r\nContent-Type: x/y\r\n";
    byte[] head = utf8(head("GET", path, headers) + "\r\n");
    return new Sample("GET with a body of " + path, joined(head, body), Expected.HARMLESS);
  }

  private byte[] noise() {
    byte[] noise = new byte[1 + random.nextInt(2_000)];
    random.nextBytes(noise);
    noise[0] = (byte) 0xFF;
    return noise;
  }

  private byte[] withBadByte(byte[] text) {
    byte[] bad = text.clone();
    bad[1 + random.nextInt(bad.length - 2)] = pick(List.of((byte) 0xFF, (byte) 0xC0, (byte) 0x80));
    return bad;
  }

  private static Sample post(String path, String what, byte[] body, String type) {
    String headers = "Content-Type: " + type + "\r\nContent-Length: " + body.length + "\r\n";
    byte[] head = utf8(head("POST", path, headers) + "\r\n");
    return new Sample(
        "POST " + path + ": " + shortened(what), joined(head, body), Expected.REFUSED);
  }

  private static Sample refused(String what, String text) {
    return new Sample(shortened(what), utf8(text), Expected.REFUSED);
  }

  /**
   * @param more header lines, each with its end
   */
  private static String head(String method, String target, String more) {
    return method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + more;
  }

  private static String json(Map<String, String> fields) {
    StringBuilder json = new StringBuilder("{");
    new TreeMap<>(fields)
        .forEach(
            (name, value) ->
                json.append(json.length() == 1 ? "" : ",")
                    .append('"')
                    .append(name)
                    .append("\":")
                    .append(value));
    return json.append('}').toString();
  }

  private <T> T pick(List<T> values) {
    return values.get(random.nextInt(values.size()));
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] joined(byte[] first, byte[] second) {
    byte[] all = java.util.Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, all, first.length, second.length);
    return all;
  }

  private static String shortened(String text) {
    return text.length() <= 80 ? text : text.substring(0, 80) + "…";
  }
}
