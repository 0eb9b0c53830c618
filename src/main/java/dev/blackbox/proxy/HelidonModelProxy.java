package dev.blackbox.proxy;

import dev.blackbox.kernel.Closer;
import dev.blackbox.kernel.Secret;
import dev.blackbox.turn.TurnKey;
import dev.blackbox.upstream.Upstream;
import io.helidon.http.HeaderValues;
import io.helidon.http.HttpLogConfig;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.FilterChain;
import io.helidon.webserver.http.HttpRouting;
import io.helidon.webserver.http.RoutingRequest;
import io.helidon.webserver.http.RoutingResponse;
import io.helidon.webserver.http1.Http1Config;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** {@link ModelProxy} on a Helidon web server. */
final class HelidonModelProxy implements ModelProxy {

  private static final String HOST = "127.0.0.1";

  /** Connections beyond the calls that may be under way: idle ones, and those to be refused. */
  private static final int SPARE_CONNECTIONS = 64;

  /**
   * Helidon counts a connection as idle from its last request on, also while that is being
   * answered, and model calls take long.
   */
  private static final Duration CONNECTION_IDLE_MAX = Duration.ofHours(24);

  private static final Duration STOPPING_MAX = Duration.ofSeconds(1);

  private static final HttpLogConfig NO_LOG =
      HttpLogConfig.builder().receiveLog(false).sendLog(false).build();

  private final ProxyConfig config;
  private final Desk desk = new Desk();
  private final Closer closer = new Closer();
  private final ControlCalls controlCalls;
  private final CallCaptures captures;
  private final WebServer server;
  private volatile @Nullable Door door;
  private volatile @Nullable AgentWatch watch;

  HelidonModelProxy(ProxyConfig config, CallSink sink, InstantSource clock) {
    this.config = config;
    captures = closer.own(new CallCaptures(config.capture(), clock));
    server = server(config);
    Upstream upstream = closer.own(Upstream.create(config.connectTimeout()));
    controlCalls = closer.own(new ControlCalls(config.connectTimeout()));
    try {
      server.start();
      closer.own(server::stop);
      if (!server.isRunning() || server.port() <= 0) {
        // Helidon logs what happened, and does not throw.
        throw new UncheckedIOException(
            new BindException(
                "the model proxy cannot listen on "
                    + HOST
                    + ":"
                    + config.port()
                    + "; is the port in use?"));
      }
      AgentWatch agents = closer.own(new AgentWatch(server.port(), config.idleTimeout()));
      watch = agents;
      door =
          new Door(
              new ModelCall.Means(
                  desk,
                  upstream,
                  config,
                  new RetryRule(config.retries(), RandomGenerator.getDefault()),
                  sink,
                  captures,
                  clock),
              agents);
    } catch (RuntimeException failed) {
      closer.close();
      throw failed;
    }
  }

  private WebServer server(ProxyConfig config) {
    return WebServer.builder()
        .host(HOST)
        .port(config.port())
        .featuresDiscoverServices(false)
        .shutdownHook(false)
        .shutdownGracePeriod(STOPPING_MAX)
        .maxTcpConnections(config.concurrentCallsMax() + SPARE_CONNECTIONS)
        .idleConnectionTimeout(CONNECTION_IDLE_MAX)
        // What is written is written whole, and must go out at once: with Nagle's algorithm, which
        // Helidon leaves on, answers wait for the agent's delayed acknowledgement, some 40 ms.
        .writeBufferSize(0)
        .connectionOptions(socket -> socket.tcpNoDelay(true))
        // Its listeners look at every byte, for a log that nobody may want: it is about bodies.
        .addProtocol(Http1Config.builder().log(NO_LOG).build())
        .routing(this::route)
        .build();
  }

  private void route(HttpRouting.Builder routing) {
    routing
        .addFilter(HelidonModelProxy::closeIfAsked)
        .any(
            (request, response) -> {
              Door open = door;
              if (open == null) {
                throw new CloseConnectionException("not ready yet");
              }
              open.handle(request, response);
            });
  }

  /** Helidon repeats the header and keeps the connection open; clients wait for its end. */
  private static void closeIfAsked(
      FilterChain chain, RoutingRequest request, RoutingResponse response) {
    chain.proceed();
    if (request.headers().containsToken(HeaderValues.CONNECTION_CLOSE)
        || response.headers().containsToken(HeaderValues.CONNECTION_CLOSE)) {
      throw new CloseConnectionException("Connection: close");
    }
  }

  @Override
  public int port() {
    return server.port();
  }

  @Override
  public void hide(Collection<Secret> secrets) {
    captures.secrets().add(secrets);
  }

  @Override
  public void bind(ProxyBinding binding) {
    EngineHeaders.check(binding);
    captures.secrets().bound(binding);
    desk.serve(binding).ifPresent(OpenTurn::close);
  }

  @Override
  public void unbind() {
    desk.serve(null).ifPresent(OpenTurn::close);
  }

  @Override
  public TurnScope openTurn(TurnKey turn, Map<String, String> trace) {
    OpenTurn opened = desk.open(turn, trace, config.agentRetries());
    captures.secrets().opened(opened.agentKey());
    return opened;
  }

  @Override
  public void hold() {
    desk.hold();
  }

  @Override
  public void release(Optional<String> version) {
    desk.release(version);
  }

  @Override
  public int callsInFlight() {
    Serving serving = desk.serving();
    OpenTurn turn = serving == null ? null : serving.turn();
    return turn == null ? 0 : turn.callsInFlight();
  }

  @Override
  public Map<String, @Nullable Object> pauseUpstream(
      String reason, Optional<Double> timeoutSeconds, Duration within) throws ControlCallException {
    return controlCalls.pause(bound(), desk.version(), reason, timeoutSeconds, within);
  }

  @Override
  public Map<String, @Nullable Object> resumeUpstream(
      String reason, Optional<String> version, Duration within) throws ControlCallException {
    return controlCalls.resume(bound(), desk.version(), reason, version, within);
  }

  @Override
  public void close() {
    unbind();
    AgentWatch agents = watch;
    if (agents != null) {
      agents.endAll(Visit.Ending.TURN_CLOSED);
    }
    closer.close();
  }

  private ProxyBinding bound() throws ControlCallException {
    Serving serving = desk.serving();
    if (serving == null) {
      throw new ControlCallException("no engine is bound", null);
    }
    return serving.binding();
  }
}
