package dev.blackbox.app;

import dev.blackbox.config.ServerConfiguration;
import dev.blackbox.kernel.Closer;
import dev.blackbox.ledger.Ledger;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.ledger.LedgerRefusedException;
import java.net.URI;
import java.nio.file.Path;
import java.time.InstantSource;

/**
 * The wiring: opens every room in its order, each owned by one {@link Closer}. The order is that of
 * recovery (design): ledger, what the last boot left, the proxy, the agent, and the door last.
 */
final class Server implements RunningServer {

  private final Closer closer;
  private final Ready ready;

  private Server(Closer closer, Ready ready) {
    this.closer = closer;
    this.ready = ready;
  }

  /** As {@link RunningServer.Opener#open}. */
  static RunningServer open(ServerConfiguration configuration) {
    StartFailures.checkAddress(configuration.http().host(), configuration.http().port());
    StartFailures.checkWritable(Path.of(configuration.server().runtimeRoot()), "runtime root");
    Closer closer = new Closer();
    try {
      Ledger ledger = closer.own(openLedger(configuration));
      URI address = URI.create("http://" + configuration.http().host() + ":0");
      return new Server(
          closer,
          new Ready(
              address,
              configuration.ledger().directory(),
              ledger.boot(),
              "recovered " + ledger.recover()));
    } catch (RuntimeException failure) {
      throw closed(closer, failure);
    }
  }

  private static Ledger openLedger(ServerConfiguration configuration) {
    try {
      return Ledger.open(
          configuration.ledger(),
          new LedgerFacts.BootStarting(Version.number(), ProcessHandle.current().pid(), ""),
          InstantSource.system());
    } catch (LedgerRefusedException refused) {
      throw StartFailures.of(refused);
    }
  }

  private static RuntimeException closed(Closer closer, RuntimeException failure) {
    try {
      closer.close();
    } catch (RuntimeException another) {
      failure.addSuppressed(another);
    }
    return failure;
  }

  @Override
  public Ready ready() {
    return ready;
  }

  @Override
  public void hurry() {}

  @Override
  public void close() {
    closer.close();
  }
}
