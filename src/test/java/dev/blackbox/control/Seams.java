package dev.blackbox.control;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import org.jspecify.annotations.Nullable;

/** Puts a test's own step before or after the calls of a port. */
final class Seams {

  private Seams() {}

  /** The call as it would have been. */
  interface Call {
    @Nullable Object proceed() throws Throwable;
  }

  /** What happens instead of a call. */
  interface Step {
    @Nullable Object instead(String method, Call call) throws Throwable;
  }

  static <T> T of(Class<T> port, T real, Step step) {
    return port.cast(
        Proxy.newProxyInstance(
            port.getClassLoader(),
            new Class<?>[] {port},
            (_, method, values) ->
                step.instead(
                    method.getName(),
                    () -> {
                      try {
                        return method.invoke(real, values);
                      } catch (InvocationTargetException failure) {
                        throw failure.getCause();
                      }
                    })));
  }
}
