package dev.blackbox.http;

import io.helidon.common.buffers.BufferData;
import io.helidon.http.Headers;
import io.helidon.http.HttpPrologue;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1ConnectionListener;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.time.Duration;
import java.util.Set;

/**
 * Makes {@link WatchedConnection}s of HTTP/1.1, and tells them when a request begins and when its
 * head is there.
 */
final class WatchedConnections implements ServerConnectionSelector, Http1ConnectionListener {

  private final Duration requestReadTimeout;
  private final ServerConnectionSelector http;

  WatchedConnections(HttpConfig config) {
    this.requestReadTimeout = config.requestReadTimeout();
    this.http =
        Http1ConnectionSelector.builder()
            .config(
                Http1Config.builder()
                    .maxPrologueLength(config.headerBytesMax())
                    .maxHeadersSize(config.headerBytesMax())
                    // Paths are matched as they came, see Routes.
                    .validatePath(false)
                    .addReceiveListener(this)
                    .build())
            .build();
  }

  @Override
  public ServerConnection connection(ConnectionContext context) {
    return new WatchedConnection(http.connection(context), context, requestReadTimeout);
  }

  @Override
  public void prologue(ConnectionContext context, HttpPrologue prologue) {
    WatchedConnection.current().expectWithin(requestReadTimeout);
  }

  @Override
  public void headers(ConnectionContext context, Headers headers) {
    WatchedConnection.current().expectNothing();
  }

  @Override
  public int bytesToIdentifyConnection() {
    return http.bytesToIdentifyConnection();
  }

  @Override
  public Support supports(BufferData data) {
    return http.supports(data);
  }

  @Override
  public Set<String> supportedApplicationProtocols() {
    return http.supportedApplicationProtocols();
  }
}
