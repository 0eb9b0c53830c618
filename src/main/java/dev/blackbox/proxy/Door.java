package dev.blackbox.proxy;

import dev.blackbox.kernel.Secret;
import dev.blackbox.kernel.TurnId;
import dev.blackbox.translate.AgentFailure;
import dev.blackbox.translate.AnthropicTokens;
import dev.blackbox.translate.ChatDialect;
import dev.blackbox.translate.Dialect;
import dev.blackbox.translate.DialectErrors;
import dev.blackbox.translate.ErrorClass;
import dev.blackbox.translate.RequestRefusedException;
import dev.blackbox.upstream.UpstreamRequest;
import dev.blackbox.wire.ChatRequest;
import dev.blackbox.wire.InvalidChatRequestException;
import dev.blackbox.wire.Json;
import dev.blackbox.wire.MalformedJsonException;
import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.ServerRequest;
import io.helidon.webserver.http.ServerResponse;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Lets requests of the agent in, or turns them away. What counts is the turn that was open when the
 * head of a request arrived: a call that is slow to arrive never slips into a later turn.
 */
final class Door {

  private static final System.Logger LOG = System.getLogger(Door.class.getName());

  static final String HEALTH_PATH = "/__proxy_health";

  private static final byte[] HEALTHY = "{\"ok\": true}".getBytes(StandardCharsets.UTF_8);
  private static final int PATH_CHARACTERS_MAX = 200;

  /** What an array can hold, whatever the configuration says. */
  private static final int BODY_BYTES_LIMIT = Integer.MAX_VALUE - 64;

  private final ModelCall.Means means;
  private final AgentWatch watch;
  private final Semaphore places;

  Door(ModelCall.Means means, AgentWatch watch) {
    this.means = means;
    this.watch = watch;
    this.places = new Semaphore(means.config().concurrentCallsMax());
  }

  /** Serves one request. Throws what makes the web server close the connection. */
  void handle(ServerRequest request, ServerResponse response) {
    Visit visit = new Visit(request.remotePeer().port(), means.desk()::wake);
    AgentAnswer answer = new AgentAnswer(visit, response);
    watch.add(visit);
    try {
      enter(request, visit, answer);
      if (visit.isLeftBehind()) {
        throw AgentAnswer.cut();
      }
    } catch (VisitEndedException gone) {
      throw AgentAnswer.cut();
    } finally {
      watch.remove(visit);
    }
  }

  private void enter(ServerRequest request, Visit visit, AgentAnswer answer)
      throws VisitEndedException {
    Serving serving = means.desk().serving();
    String method = request.prologue().method().text();
    String path = request.prologue().uriPath().rawPath();
    if (method.equals("GET") && path.equals(HEALTH_PATH)) {
      answer.whole(200, AgentAnswer.JSON, HEALTHY);
      return;
    }
    Route route = Route.of(method, path, request.headers());
    Optional<Refusal> refusal = refusalFor(route, request, serving);
    if (refusal.isPresent() || serving == null) {
      refuse(refusal.orElse(Refusal.NOT_BOUND), route, request, serving, visit, answer);
      return;
    }
    if (!places.tryAcquire()) {
      refuse(Refusal.BUSY, route, request, serving, visit, answer);
      return;
    }
    try {
      if (route.asksForModels()) {
        new ModelListing(means, request, route, answer).run(serving.binding(), visit);
      } else {
        ask(route, request, serving, visit, answer);
      }
    } catch (RuntimeException bug) {
      if (answer.begun()) {
        throw bug;
      }
      LOG.log(System.Logger.Level.ERROR, "a model call failed by a bug of ours", bug);
      answer.whole(internalError(route.dialect()));
    } finally {
      places.release();
    }
  }

  private static Reply internalError(Dialect dialect) {
    String message = "The proxy failed; see its log.";
    return dialect == Dialect.CHAT
        ? new Reply(
            500, AgentAnswer.JSON, ChatDialect.error("server_error", "internal_error", message))
        : Reply.of(
            DialectErrors.answer(dialect, AgentFailure.of(ErrorClass.ENGINE, message), false));
  }

  private static Optional<Refusal> refusalFor(
      Route route, ServerRequest request, @Nullable Serving serving) {
    if (route == Route.UNKNOWN) {
      return Optional.of(Refusal.UNKNOWN_ROUTE);
    }
    if (serving == null) {
      return Optional.of(Refusal.NOT_BOUND);
    }
    Optional<Refusal> key = keyRefusal(request, serving);
    if (key.isPresent()) {
      return key;
    }
    return route.isModelCall() && serving.turn() == null
        ? Optional.of(Refusal.NO_TURN)
        : Optional.empty();
  }

  /** Routes with a body. */
  private void ask(
      Route route, ServerRequest request, Serving serving, Visit visit, AgentAnswer answer)
      throws VisitEndedException {
    Optional<byte[]> body = visit.ask(() -> body(request, answer));
    if (body.isEmpty()) {
      turnAway(Refusal.TOO_LARGE, route, request, serving, answer);
      return;
    }
    Reply reply;
    try {
      if (route == Route.COUNT_TOKENS) {
        Object tree = Json.parse(body.get());
        answer.whole(200, AgentAnswer.JSON, Json.writeBytes(AnthropicTokens.countTokens(tree)));
        return;
      }
      Speech speech = speech(route, body.get());
      Question question = Question.of(route, body.get(), request.headers());
      call(speech, question, body.get().length, request, serving, visit, answer);
      return;
    } catch (InvalidChatRequestException invalid) {
      reply =
          new Reply(
              400,
              AgentAnswer.JSON,
              ChatDialect.error("invalid_request_error", "bad_request", invalid.text()));
    } catch (MalformedJsonException malformed) {
      AgentFailure told =
          AgentFailure.of(ErrorClass.BAD_REQUEST, "the body is " + malformed.getMessage());
      reply = Reply.of(DialectErrors.answer(route.dialect(), told, false));
    } catch (RequestRefusedException refused) {
      reply = Reply.of(DialectErrors.refusal(route.dialect(), refused));
    }
    note("bad_request", request, turnOf(serving));
    answer.whole(reply);
  }

  private static Speech speech(Route route, byte[] body)
      throws InvalidChatRequestException, MalformedJsonException, RequestRefusedException {
    return switch (route.dialect()) {
      case CHAT -> new ChatSpeech(ChatRequest.read(body));
      case ANTHROPIC -> TranslatedSpeech.anthropic(Json.parseExactly(body));
      case RESPONSES -> TranslatedSpeech.responses(Json.parseExactly(body));
    };
  }

  private void call(
      Speech speech,
      Question question,
      long requestBytes,
      ServerRequest request,
      Serving serving,
      Visit visit,
      AgentAnswer answer)
      throws VisitEndedException {
    OpenTurn turn = serving.turn();
    OpenTurn.Admission admission =
        turn == null ? new OpenTurn.Admission.Closed() : turn.admit(visit, question);
    switch (admission) {
      case OpenTurn.Admission.Closed() -> {
        note(Refusal.TURN_CLOSED.reason(), request, turnOf(serving));
        answer.whole(Refusal.TURN_CLOSED.reply(speech.dialect()));
      }
      case OpenTurn.Admission.Voided(var why) -> {
        note("rollout_invalidated", request, turnOf(serving));
        if (!QuietEnd.say(speech, answer)) {
          answer.whole(speech.failure(CallFailure.ofVoidTurn(why)));
        }
      }
      case OpenTurn.Admission.OverBudget(int stepsMax) -> {
        note("max_steps_exceeded", request, turnOf(serving));
        answer.whole(Refusal.overBudget(speech.dialect(), stepsMax));
      }
      case OpenTurn.Admission.Repeated(var open, var first, var resent) -> {
        try {
          CallRecord record =
              record(
                  open,
                  UUID.randomUUID().toString(),
                  first.step(),
                  speech,
                  request,
                  Optional.of(resent));
          new FollowedCall(first, open, record, speech, visit, answer).run(requestBytes);
        } finally {
          if (resent.as().equals("joined")) {
            first.visit().unfollow();
          }
        }
      }
      case OpenTurn.Admission.Admitted(var open, var known, var resent) -> {
        CallRecord record = record(open, known.callId(), known.step(), speech, request, resent);
        new ModelCall(means, open, known, record, speech, visit, answer)
            .run(outgoing(request, serving.binding(), open, speech), requestBytes);
      }
    }
  }

  private CallRecord record(
      OpenTurn turn,
      String callId,
      int step,
      Speech speech,
      ServerRequest request,
      Optional<CallSink.Resent> resent) {
    String purpose = CallPurpose.of(request.headers(), speech);
    return new CallRecord(means, turn, callId, step, speech, purpose, resent);
  }

  private ModelCall.Outgoing outgoing(
      ServerRequest request, ProxyBinding binding, OpenTurn turn, Speech speech) {
    return deadlines ->
        new UpstreamRequest(
            "POST",
            engineUri(binding, "/chat/completions"),
            EngineHeaders.ofModelCall(request.headers(), binding, turn, means.desk().version()),
            speech.question(binding.options().defaultTemperature()),
            deadlines);
  }

  /** Always built from the binding, never from what the agent asked for. */
  static URI engineUri(ProxyBinding binding, String path) {
    return URI.create(binding.upstreamOrigin() + apiPath(binding) + path);
  }

  private static String apiPath(ProxyBinding binding) {
    String path = binding.apiPath();
    while (path.endsWith("/")) {
      path = path.substring(0, path.length() - 1);
    }
    return path.isEmpty() || path.startsWith("/") ? path : "/" + path;
  }

  /** Turns a request away whose body has not been read. */
  private void refuse(
      Refusal refusal,
      Route route,
      ServerRequest request,
      @Nullable Serving serving,
      Visit visit,
      AgentAnswer answer)
      throws VisitEndedException {
    // A connection that is closed with unread bytes is reset, and the answer may be lost with it.
    boolean readToItsEnd =
        !request.content().hasEntity() || visit.ask(() -> discard(request.content().inputStream()));
    if (!readToItsEnd) {
      answer.closeAfterwards();
    }
    turnAway(refusal, route, request, serving, answer);
  }

  private void turnAway(
      Refusal refusal,
      Route route,
      ServerRequest request,
      @Nullable Serving serving,
      AgentAnswer answer)
      throws VisitEndedException {
    note(refusal.reason(), request, turnOf(serving));
    answer.whole(refusal.reply(route.dialect()));
  }

  private static Optional<TurnId> turnOf(@Nullable Serving serving) {
    return Optional.ofNullable(serving).map(Serving::turn).map(open -> open.key().turnId());
  }

  private void note(String reason, ServerRequest request, Optional<TurnId> turn) {
    String path = request.prologue().uriPath().rawPath();
    String shown =
        path.length() <= PATH_CHARACTERS_MAX ? path : path.substring(0, PATH_CHARACTERS_MAX);
    try {
      means
          .sink()
          .refused(
              new CallSink.CallRefused(
                  reason,
                  request.prologue().method().text(),
                  shown,
                  turn,
                  means.clock().instant()));
    } catch (RuntimeException notRecorded) {
      LOG.log(System.Logger.Level.ERROR, "a refused call cannot be recorded", notRecorded);
    }
  }

  /** Good are the keys of the binding and of the open turn. */
  private static Optional<Refusal> keyRefusal(ServerRequest request, Serving serving) {
    String bearer = request.headers().first(HeaderNames.AUTHORIZATION).orElse("");
    String token =
        bearer.regionMatches(true, 0, "Bearer ", 0, "Bearer ".length())
            ? bearer.substring("Bearer ".length()).strip()
            : "";
    String apiKey = request.headers().first(HeaderNames.create("x-api-key")).orElse("");
    Secret binding = serving.binding().agentKey();
    OpenTurn turn = serving.turn();
    for (String key : List.of(token, apiKey)) {
      if (binding.matches(key) || (turn != null && turn.agentKey().matches(key))) {
        return Optional.empty();
      }
      if (TurnSecrets.isOf(binding, key)) {
        // A straggler: it would be another turn's call.
        return Optional.of(Refusal.TURN_CLOSED);
      }
    }
    return Optional.of(Refusal.BAD_KEY);
  }

  /** The body, or empty if it is longer than the bound. */
  private Optional<byte[]> body(ServerRequest request, AgentAnswer answer) throws IOException {
    if (!request.content().hasEntity()) {
      return Optional.of(new byte[0]);
    }
    InputStream in = request.content().inputStream();
    byte[] body = in.readNBytes((int) Math.min(means.config().bodyBytesMax(), BODY_BYTES_LIMIT));
    if (in.read() < 0) {
      return Optional.of(body);
    }
    if (!discard(in)) {
      answer.closeAfterwards();
    }
    return Optional.empty();
  }

  /** Reads what is left of a body, up to the bound. False if it is longer. */
  private boolean discard(InputStream in) throws IOException {
    long left = means.config().bodyBytesMax();
    byte[] buffer = new byte[16 << 10];
    int length = in.read(buffer);
    while (length >= 0 && left > 0) {
      left -= length;
      length = in.read(buffer);
    }
    return length < 0;
  }
}
