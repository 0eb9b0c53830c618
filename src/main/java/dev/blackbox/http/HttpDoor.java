package dev.blackbox.http;

import dev.blackbox.control.Rollout;
import dev.blackbox.kernel.Resource;
import io.helidon.http.DirectHandler;
import io.helidon.webserver.WebServer;
import io.helidon.webserver.http.DirectHandlers;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.UnknownHostException;
import java.time.Duration;

/**
 * The control door: the HTTP API of a {@link Rollout}. Requests run on virtual threads, one each.
 *
 * <p>Closing it refuses new connections at once, lets requests in work go on for the configured
 * grace, and then interrupts their threads: close it before what it calls, and after what they may
 * wait for has been told to end.
 */
public final class HttpDoor implements Resource {

  private static final System.Logger LOG = System.getLogger(HttpDoor.class.getName());

  /** Answers up to this size are sent with their length, longer ones in chunks of it. */
  private static final int WRITE_BUFFER_BYTES = 32 << 10;

  private static final Duration WATCH_EVERY_MAX = Duration.ofSeconds(1);

  /** Waiting connections that the system holds for us. */
  private static final int BACKLOG = 1024;

  private static final int SELF_TEST_MILLIS = 2000;

  private final HttpConfig config;
  private final WebServer server;
  private final Dispatcher dispatcher;
  private final int port;

  private HttpDoor(HttpConfig config, WebServer server, Dispatcher dispatcher) {
    this.config = config;
    this.server = server;
    this.dispatcher = dispatcher;
    this.port = server.port();
  }

  /**
   * Opens the door.
   *
   * @throws PortTakenException if it cannot listen there
   */
  public static HttpDoor start(HttpConfig config, Rollout rollout) throws PortTakenException {
    requireFree(config);
    RequestIds ids = new RequestIds();
    Limits limits = new Limits(config);
    UnreadableRequests unreadable = new UnreadableRequests(config, ids);
    Routes routes =
        new Routes(
            new HealthRoutes(rollout),
            new RolloutRoutes(rollout),
            new SessionRoutes(rollout, limits, config.waitSecondsMax(), config.pageTurnsMax()),
            new CommandRoutes(rollout, limits, config.waitSecondsMax(), config.pageTurnsMax()),
            new DescriptionRoute());
    Dispatcher dispatcher = new Dispatcher(config, routes, limits, ids, unreadable);
    WebServer server = server(config, unreadable, dispatcher).start();
    if (!server.isRunning()) {
      // Helidon logs the reason and returns; that the port was free a moment ago leaves this one.
      throw new PortTakenException(
          config.host(), config.port(), "the port was taken meanwhile", null);
    }
    HttpDoor door = new HttpDoor(config, server, dispatcher);
    door.logStart();
    return door;
  }

  /** One line that also says who may come in. */
  private void logStart() {
    String where = "listening on http://" + config.host() + ":" + port;
    if (config.access().token().isPresent()) {
      LOG.log(Level.INFO, where + ", for those who have the API token");
    } else if (isLoopback(config.host())) {
      LOG.log(Level.INFO, where + ", without an API token, so for this machine only");
    } else {
      LOG.log(
          Level.WARNING,
          where
              + ", without an API token: whoever reaches this address has the agent; set"
              + " BBS_API_TOKEN or BBS_API_TOKEN_FILE");
    }
  }

  private static boolean isLoopback(String host) {
    try {
      return InetAddress.getByName(host).isLoopbackAddress();
    } catch (UnknownHostException impossible) {
      return false; // It was bound a moment ago.
    }
  }

  /** The port that it listens on. */
  public int port() {
    return port;
  }

  /**
   * Whether a connection gets through. Running out of file descriptors ends the listener for good
   * while everything else goes on, so somebody must ask from time to time.
   */
  public boolean isListening() {
    try (Socket probe = new Socket()) {
      probe.connect(new InetSocketAddress(config.host(), port), SELF_TEST_MILLIS);
      return true;
    } catch (IOException refused) {
      LOG.log(Level.ERROR, "port " + port + " takes no connections: " + refused.getMessage());
      return false;
    }
  }

  @Override
  public void close() {
    if (server.isRunning()) {
      dispatcher.stop();
      server.stop();
      LOG.log(Level.INFO, "stopped listening on port {0}", String.valueOf(port));
    }
  }

  private static WebServer server(
      HttpConfig config, UnreadableRequests unreadable, Dispatcher dispatcher) {
    Duration watchEvery = config.requestReadTimeout().dividedBy(2);
    return WebServer.builder()
        .host(config.host())
        .port(config.port())
        .shutdownHook(false)
        // What other libraries bring along must not switch itself on: access log, /observe.
        .featuresDiscoverServices(false)
        .protocolsDiscoverServices(false)
        .addConnectionSelector(new WatchedConnections(config))
        .backlog(BACKLOG)
        // Else the last piece of an answer in two writes waits for the client's delayed
        // acknowledgement.
        .connectionOptions(socket -> socket.tcpNoDelay(true))
        .maxTcpConnections(config.connectionsMax())
        .maxPayloadSize(config.bodyBytesMax())
        .writeBufferSize(WRITE_BUFFER_BYTES)
        .idleConnectionTimeout(config.idleTimeout())
        .idleConnectionPeriod(
            watchEvery.compareTo(WATCH_EVERY_MAX) < 0 ? watchEvery : WATCH_EVERY_MAX)
        .shutdownGracePeriod(config.shutdownGrace())
        .directHandlers(directHandlers(unreadable))
        .routing(routing -> routing.addFilter(dispatcher))
        .build();
  }

  private static DirectHandlers directHandlers(UnreadableRequests unreadable) {
    DirectHandlers.Builder handlers = DirectHandlers.builder();
    for (DirectHandler.EventType type : DirectHandler.EventType.values()) {
      handlers.addHandler(type, unreadable);
    }
    return handlers.build();
  }

  /** Helidon would log a stack trace for a port in use, and say nothing to its caller. */
  private static void requireFree(HttpConfig config) throws PortTakenException {
    try (ServerSocket probe = new ServerSocket()) {
      probe.setReuseAddress(true);
      probe.bind(new InetSocketAddress(InetAddress.getByName(config.host()), config.port()));
    } catch (UnknownHostException unknown) {
      throw new PortTakenException(
          config.host(), config.port(), "this host name has no address", unknown);
    } catch (IOException refused) {
      throw new PortTakenException(
          config.host(), config.port(), String.valueOf(refused.getMessage()), refused);
    }
  }
}
