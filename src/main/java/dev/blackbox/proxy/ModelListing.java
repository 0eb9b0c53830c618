package dev.blackbox.proxy;

import dev.blackbox.translate.BrokenAnswerException;
import dev.blackbox.translate.ChatDialect;
import dev.blackbox.translate.Dialect;
import dev.blackbox.translate.DialectErrors;
import dev.blackbox.translate.ModelLists;
import dev.blackbox.upstream.UpstreamCall;
import dev.blackbox.upstream.UpstreamDeadlines;
import dev.blackbox.upstream.UpstreamException;
import dev.blackbox.upstream.UpstreamHead;
import dev.blackbox.upstream.UpstreamRequest;
import dev.blackbox.wire.Json;
import io.helidon.webserver.http.ServerRequest;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Which models there are, and whether one is there: in both cases the engine is asked for its list,
 * so that nothing of what the agent wrote gets into the engine's URL.
 */
final class ModelListing {

  private static final int ID_CHARACTERS_SHOWN = 200;

  private final ModelCall.Means means;
  private final ServerRequest request;
  private final Route route;
  private final AgentAnswer answer;

  ModelListing(ModelCall.Means means, ServerRequest request, Route route, AgentAnswer answer) {
    this.means = means;
    this.request = request;
    this.route = route;
    this.answer = answer;
  }

  void run(ProxyBinding binding, Visit visit) throws VisitEndedException {
    UpstreamRequest outgoing =
        new UpstreamRequest(
            "GET",
            Door.engineUri(binding, "/models"),
            EngineHeaders.ofModelList(request.headers()),
            null,
            deadlines());
    Reply reply;
    try (UpstreamCall engine = visit.engage(means.upstream().begin(outgoing))) {
      UpstreamHead head = engine.head();
      byte[] list = engine.readAll(means.config().responseBytesMax());
      reply =
          head.isSuccess()
              ? reply(head, list)
              : failure(CallFailure.ofAnswer(head, list, means.clock().instant()));
    } catch (UpstreamException failed) {
      reply = failure(CallFailure.of(failed));
    }
    answer.whole(reply);
  }

  private UpstreamDeadlines deadlines() {
    return new UpstreamDeadlines(
        means.config().firstByteTimeout(),
        means.config().idleTimeout(),
        Optional.of(means.config().totalTimeout()));
  }

  private Reply reply(UpstreamHead head, byte[] list) {
    Optional<String> wanted = Route.modelId(request.prologue().uriPath().rawPath());
    if (wanted.isEmpty() && route.dialect() != Dialect.ANTHROPIC) {
      return new Reply(head.status(), EngineHeaders.forAgent(head), list);
    }
    try {
      List<Map<String, @Nullable Object>> models = ModelLists.read(list);
      return wanted.isPresent()
          ? ModelLists.find(models, wanted.get())
              .map(this::one)
              .orElseGet(() -> missing(wanted.get()))
          : json(ModelLists.anthropicPage(models));
    } catch (BrokenAnswerException broken) {
      return failure(CallFailure.malformed("the engine's list of models is " + broken.text()));
    }
  }

  private Reply one(Map<String, @Nullable Object> model) {
    return json(route.dialect() == Dialect.ANTHROPIC ? ModelLists.anthropicModel(model) : model);
  }

  private Reply missing(String id) {
    String shown =
        id.length() <= ID_CHARACTERS_SHOWN ? id : id.substring(0, ID_CHARACTERS_SHOWN) + "…";
    String message = "The engine has no model \"" + shown + "\".";
    return route.dialect() == Dialect.ANTHROPIC
        ? Reply.of(DialectErrors.notFound(message))
        : new Reply(
            404,
            AgentAnswer.JSON,
            ChatDialect.error("invalid_request_error", "model_not_found", message));
  }

  private Reply failure(CallFailure failure) {
    return route.dialect() == Dialect.ANTHROPIC
        ? Reply.of(DialectErrors.answer(Dialect.ANTHROPIC, failure.told(), false))
        : failure.chatReply();
  }

  private static Reply json(Map<String, @Nullable Object> tree) {
    return new Reply(200, AgentAnswer.JSON, Json.writeBytes(tree));
  }
}
