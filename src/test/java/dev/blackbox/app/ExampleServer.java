package dev.blackbox.app;

import dev.blackbox.agent.example.ExampleBackend;
import java.util.List;
import java.util.function.UnaryOperator;

/** The real server with one backend more: the example of docs/adding-a-backend.md. */
final class ExampleServer {

  private ExampleServer() {}

  public static void main(String[] arguments) {
    Runtime.getRuntime()
        .halt(
            Main.run(
                arguments,
                configuration ->
                    Server.open(
                        configuration,
                        System.getenv(),
                        UnaryOperator.identity(),
                        processes -> List.of(new ExampleBackend(System.getenv(), processes))),
                System.err));
  }
}
