package dev.blackbox.app;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.function.Consumer;

/**
 * The signals that ask a process to end, as events. A shutdown hook would not do: after it the JVM
 * ends with 128 + the signal's number, which supervisors read as a failure, and it cannot hear a
 * second signal.
 *
 * <p>{@code sun.misc.Signal} (module jdk.unsupported) is the JDK's only door to signals. It is used
 * by reflection because the compiler warns of its very name, without any way to allow it, and our
 * build takes no warnings.
 */
final class StopSignals {

  /** In a session without a terminal, SIGHUP is never sent; at a terminal it means the same. */
  private static final List<String> NAMES = List.of("TERM", "INT", "HUP");

  private StopSignals() {}

  /** From now on each of these signals is handed over by name, on a thread of its own. */
  static void handle(Consumer<String> handler) {
    try {
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
      Method handle = signal.getMethod("handle", signal, handlerType);
      for (String name : NAMES) {
        Object proxy =
            Proxy.newProxyInstance(
                handlerType.getClassLoader(), new Class<?>[] {handlerType}, calling(name, handler));
        handle.invoke(null, signal.getConstructor(String.class).newInstance(name), proxy);
      }
    } catch (ReflectiveOperationException unusable) {
      throw new IllegalStateException("this JVM has no sun.misc.Signal", unusable);
    }
  }

  @SuppressWarnings("ReferenceEquality") // which is what Object.equals means
  private static InvocationHandler calling(String name, Consumer<String> handler) {
    return (proxy, method, arguments) ->
        switch (method.getName()) {
          case "handle" -> {
            handler.accept(name);
            yield null;
          }
          case "equals" -> proxy == arguments[0];
          case "hashCode" -> System.identityHashCode(proxy);
          default -> "handler of SIG" + name;
        };
  }
}
