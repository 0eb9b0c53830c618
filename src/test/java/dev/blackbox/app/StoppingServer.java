package dev.blackbox.app;

import dev.blackbox.ledger.Ledger;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * The real server, but from when it is told, the first call of one ledger verb never goes on: it
 * leaves a file and waits, before or after the verb has committed, so that a test can kill the
 * process at exactly that point. {@code STOP_AT} says where, for example {@code before:settle};
 * {@code STOP_FILE} is left there, and {@link #armed} tells it to begin.
 */
final class StoppingServer {

  private StoppingServer() {}

  public static void main(String[] arguments) {
    Runtime.getRuntime()
        .halt(
            Main.run(
                arguments,
                configuration ->
                    Server.open(configuration, System.getenv(), StoppingServer::stopping),
                System.err));
  }

  /** What has to be there for it to stop. */
  static Path armed(Path stopFile) {
    return stopFile.resolveSibling(stopFile.getFileName() + ".armed");
  }

  private static Ledger stopping(Ledger real) {
    String[] stopAt = String.valueOf(System.getenv("STOP_AT")).split(":");
    Path file = Path.of(String.valueOf(System.getenv("STOP_FILE")));
    Path armed = armed(file);
    return (Ledger)
        Proxy.newProxyInstance(
            Ledger.class.getClassLoader(),
            new Class<?>[] {Ledger.class},
            (_, verb, values) -> {
              boolean here = verb.getName().equals(stopAt[1]) && Files.exists(armed);
              if (here && stopAt[0].equals("before")) {
                stop(file);
              }
              Object result = call(real, verb, values);
              if (here) {
                stop(file);
              }
              return result;
            });
  }

  private static @Nullable Object call(Ledger real, Method verb, Object @Nullable [] values)
      throws Throwable {
    try {
      return verb.invoke(real, values);
    } catch (InvocationTargetException failure) {
      throw failure.getCause();
    }
  }

  private static void stop(Path file) {
    try {
      Files.createFile(file);
      new CountDownLatch(1).await();
    } catch (IOException failure) {
      throw new UncheckedIOException(failure);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
