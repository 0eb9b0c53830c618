package dev.blackbox.http;

import dev.blackbox.kernel.ErrorCode;
import dev.blackbox.kernel.Problem;
import dev.blackbox.wire.Json;
import io.helidon.common.buffers.DataReader;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Headers;
import io.helidon.http.HttpException;
import io.helidon.http.RequestException;
import io.helidon.http.Status;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ServerConnectionException;
import io.helidon.webserver.http.Filter;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Every request passes here: it is read, routed, answered and, if need be, refused in one shape.
 * Nothing that goes wrong gets past it but the loss of the connection.
 *
 * <p>A filter, and not a handler behind Helidon's own routing, because only a filter may end the
 * connection after its answer without cutting the answer off.
 */
final class Dispatcher implements Filter {

  private static final System.Logger LOG = System.getLogger(Dispatcher.class.getName());

  /** Seconds after which a client may try again; all our refusals with 503 pass quickly. */
  static final String RETRY_AFTER_SECONDS = "1";

  /** The same for what has been used up, and does not come back by waiting a moment. */
  private static final String RETRY_AFTER_LIMIT_SECONDS = "60";

  private static final int NANOS_PER_MICROSECOND = 1000;

  private static final String MALFORMED = "its body is malformed";

  private static final String JSON = "application/json";

  static final String NO_STORE = "no-store";

  private static final HeaderName REQUEST_ID = HeaderNames.create("x-request-id");

  private final HttpConfig config;
  private final Routes routes;
  private final Limits limits;
  private final Gate gate;
  private final RequestIds ids;
  private final UnreadableRequests unreadable;
  private volatile boolean stopping;

  Dispatcher(
      HttpConfig config,
      Routes routes,
      Limits limits,
      RequestIds ids,
      UnreadableRequests unreadable) {
    this.config = config;
    this.routes = routes;
    this.limits = limits;
    this.gate = new Gate(config.access(), config.host());
    this.ids = ids;
    this.unreadable = unreadable;
  }

  /** From now on what fails is put down to the end of the server, and not logged as a bug. */
  void stop() {
    stopping = true;
  }

  @Override
  public void filter(FilterChain unused, RoutingRequest request, RoutingResponse response) {
    String requestId = ids.next();
    long startNanos = System.nanoTime();
    try (Limits.Held held = limits.hold()) {
      Answer answer = answer(requestId, request, response, held);
      try {
        send(answer, requestId, request, response);
      } catch (CloseConnectionException clientGone) {
        throw clientGone;
      } catch (RuntimeException | Error unsendable) {
        if (!response.reset()) {
          report(requestId, request, unsendable);
          throw new CloseConnectionException("answer broken off", unsendable);
        }
        send(refuse(requestId, request, unsendable), requestId, request, response);
      }
    }
    logAccess(requestId, request, response, System.nanoTime() - startNanos);
    closeIfAsked(request, response);
  }

  /** Helidon 4.5.0 itself repeats {@code Connection: close} and leaves the connection open. */
  private static void closeIfAsked(ServerRequest request, ServerResponse response) {
    if (saysClose(request.headers()) || saysClose(response.headers())) {
      throw new CloseConnectionException("connection: close");
    }
  }

  /** Most requests say nothing about it, and looking for the name is cheaper than for the token. */
  private static boolean saysClose(Headers headers) {
    return headers.contains(HeaderNames.CONNECTION)
        && headers.containsToken(HeaderValues.CONNECTION_CLOSE);
  }

  private static void logAccess(
      String requestId, ServerRequest request, ServerResponse response, long nanos) {
    if (LOG.isLoggable(Level.DEBUG)) {
      LOG.log(
          Level.DEBUG,
          "%s %s %s %d in %d us"
              .formatted(
                  requestId,
                  request.prologue().method().text(),
                  request.prologue().uriPath().rawPath(),
                  response.status().code(),
                  nanos / NANOS_PER_MICROSECOND));
    }
  }

  private Answer answer(
      String requestId, ServerRequest request, ServerResponse response, Limits.Held held) {
    try {
      RequestHeaders headers = new RequestHeaders(request.headers());
      if (headers.hasNameless()) {
        WatchedConnection.current().refuseEarly();
        throw unreadable.problem(Status.BAD_REQUEST_400.code(), "a header has no name");
      }
      admit(request, headers);
      Body body = read(request, held);
      Routes.Match match =
          routes.match(request.prologue().method().text(), request.prologue().uriPath().rawPath());
      if (match.route().isEmpty()) {
        response.header(HeaderNames.ALLOW, match.allowed());
        throw notAllowed(request, match.allowed());
      }
      Route route = match.route().get();
      if (!route.always()) {
        held.request();
      }
      Query query = new Query(request.query().rawValue());
      return route.action().answer(new Call(requestId, match.path(), query, headers, body));
    } catch (CloseConnectionException clientGone) {
      throw clientGone;
    } catch (RuntimeException | Error refused) {
      return refuse(requestId, request, refused);
    }
  }

  /** Before the body is read: nobody who may not come in makes us hold one. */
  private void admit(ServerRequest request, RequestHeaders headers) {
    String rawPath = request.prologue().uriPath().rawPath();
    String authority = Routes.authority(rawPath).orElseGet(() -> headers.first("host").orElse(""));
    InetAddress cameInOn =
        request.localPeer().address() instanceof InetSocketAddress local
            ? local.getAddress()
            : InetAddress.getLoopbackAddress();
    try {
      gate.check(headers, authority, cameInOn, routes.isOpen(rawPath));
    } catch (Problem refused) {
      if (request.content().hasEntity()) {
        WatchedConnection.current().refuseEarly();
      }
      throw refused;
    }
  }

  private static Problem notAllowed(ServerRequest request, String allowed) {
    String method = request.prologue().method().text();
    return Problem.of(
        ErrorCode.METHOD_NOT_ALLOWED,
        "This path takes " + allowed + ", not " + method + ".",
        Map.of("allowed", allowed));
  }

  private Answer refuse(String requestId, ServerRequest request, Throwable thrown) {
    if (thrown instanceof Problem problem) {
      return Answer.refusal(problem);
    }
    if (stopping) {
      return Answer.refusal(Problem.unavailable("The server is shutting down.", Map.of()));
    }
    report(requestId, request, thrown);
    return Answer.bug(requestId);
  }

  private static void report(String requestId, ServerRequest request, Throwable bug) {
    LOG.log(
        Level.ERROR,
        "%s %s %s failed unexpectedly"
            .formatted(
                requestId,
                request.prologue().method().text(),
                request.prologue().uriPath().rawPath()),
        bug);
  }

  /**
   * Reads the body of any request, wanted or not: what is left unread would be taken for the next
   * request.
   */
  private Body read(ServerRequest request, Limits.Held held) {
    if (!request.content().hasEntity()) {
      return Body.NONE;
    }
    WatchedConnection connection = WatchedConnection.current();
    connection.expectWithin(config.requestReadTimeout());
    try {
      // Never closed: that would wait for the rest, also of a body that is refused already.
      InputStream in = request.content().inputStream();
      List<byte[]> steps = new ArrayList<>();
      for (byte[] step = nextStep(in); step.length > 0; step = nextStep(in)) {
        held.bodyStep();
        steps.add(step);
      }
      return new Body(joined(steps), contentType(request));
    } catch (Problem tooMuch) {
      connection.refuseEarly();
      throw tooMuch;
    } catch (IOException
        | UncheckedIOException
        | ServerConnectionException
        | DataReader.InsufficientDataAvailableException gone) {
      throw new CloseConnectionException("the client went away while it sent a body", gone);
    } catch (RuntimeException broken) {
      connection.refuseEarly();
      throw refusal(broken);
    } finally {
      connection.expectNothing();
    }
  }

  /** Helidon has several ways to say that it cannot read a body; the last is a bad chunk size. */
  private Problem refusal(RuntimeException broken) {
    return switch (broken) {
      case RequestException refused ->
          unreadable.problem(
              refused.status().code(),
              refused.safeMessage() ? String.valueOf(refused.getMessage()) : MALFORMED);
      case HttpException refused -> unreadable.problem(refused.status().code(), MALFORMED);
      default -> unreadable.problem(Status.BAD_REQUEST_400.code(), MALFORMED);
    };
  }

  private static byte[] nextStep(InputStream in) throws IOException {
    return in.readNBytes(Limits.BODY_STEP_BYTES);
  }

  private static byte[] joined(List<byte[]> steps) {
    byte[] whole = new byte[steps.stream().mapToInt(step -> step.length).sum()];
    int at = 0;
    for (byte[] step : steps) {
      System.arraycopy(step, 0, whole, at, step.length);
      at += step.length;
    }
    return whole;
  }

  private static Optional<String> contentType(ServerRequest request) {
    return request.headers().first(HeaderNames.CONTENT_TYPE);
  }

  private void send(
      Answer answer, String requestId, ServerRequest request, RoutingResponse response) {
    WatchedConnection connection = WatchedConnection.current();
    response.status(Status.create(answer.status()));
    response.header(REQUEST_ID, requestId);
    response.header(HeaderNames.CACHE_CONTROL, NO_STORE);
    byStatus(answer.status())
        .forEach((name, value) -> response.header(HeaderNames.create(name), value));
    answer.headers().forEach((name, value) -> response.header(HeaderNames.create(name), value));
    if (connection.isRefusedEarly()) {
      response.header(HeaderValues.CONNECTION_CLOSE);
    }
    switch (answer) {
      case Answer.Whole whole ->
          deliver(request, response, JSON, named(whole.fields(), requestId, whole.named()));
      case Answer.Document document ->
          deliver(request, response, JSON, document.json().getBytes(StandardCharsets.UTF_8));
      case Answer.Refusal refusal -> {
        boolean rfc =
            ProblemDocument.isWanted(new RequestHeaders(request.headers()).joined("accept"));
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        if (rfc) {
          fields.putAll(ProblemDocument.members(refusal.status(), refusal.problem()));
        }
        fields.putAll(ProblemDocument.fields(refusal.problem()));
        String mediaType = rfc ? ProblemDocument.MEDIA_TYPE : JSON;
        deliver(request, response, mediaType, named(fields, requestId, true));
      }
      // Helidon 4.5.0 adds "Content-Length: 0" here, takes no other value and cannot leave it out.
      case Answer.Unchanged _ -> deliver(connection, response::send);
      case Answer.Streamed streamed -> {
        response.header(HeaderNames.CONTENT_TYPE, JSON);
        stream(connection, response, streamed, requestId);
      }
    }
  }

  /** What goes with a status, whoever gives it. */
  private static Map<String, String> byStatus(int status) {
    return switch (status) {
      case 401 -> Map.of("www-authenticate", "Bearer realm=\"blackbox-server\"");
      case 429 -> Map.of("retry-after", RETRY_AFTER_LIMIT_SECONDS);
      case 503 -> Map.of("retry-after", RETRY_AFTER_SECONDS);
      default -> Map.of();
    };
  }

  private void stream(
      WatchedConnection connection,
      RoutingResponse response,
      Answer.Streamed answer,
      String requestId) {
    try (OutputStream out =
        new ClientStream(response.outputStream(), connection, config.answerWriteTimeout())) {
      answer.writing().writeTo(out, requestId);
    } catch (IOException impossible) {
      throw new IllegalStateException("a client stream reports its loss itself", impossible);
    }
    deliver(connection, response::commit);
  }

  private static byte[] named(
      Map<String, ? extends @Nullable Object> fields, String requestId, boolean named) {
    if (!named) {
      return Json.writeBytes(fields);
    }
    Map<String, @Nullable Object> all = new LinkedHashMap<>();
    all.put("request_id", requestId);
    all.putAll(fields);
    return Json.writeBytes(all);
  }

  private void deliver(
      ServerRequest request, RoutingResponse response, String mediaType, byte[] bytes) {
    response.header(HeaderNames.CONTENT_TYPE, mediaType);
    response.header(HeaderNames.CONTENT_LENGTH, String.valueOf(bytes.length));
    boolean head = request.prologue().method().text().equals("HEAD");
    byte[] sent = head ? new byte[0] : bytes;
    deliver(WatchedConnection.current(), () -> response.send(sent));
  }

  private void deliver(WatchedConnection connection, Runnable sending) {
    connection.expectWithin(config.answerWriteTimeout());
    try {
      sending.run();
    } catch (RuntimeException gone) {
      throw new CloseConnectionException("the client went away before its answer", gone);
    } finally {
      connection.expectNothing();
    }
  }
}
