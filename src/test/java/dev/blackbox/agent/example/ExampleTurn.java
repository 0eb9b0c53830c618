package dev.blackbox.agent.example;

import dev.blackbox.agent.AgentResult;
import dev.blackbox.agent.AgentResult.Kind;
import dev.blackbox.agent.CliEvents;
import dev.blackbox.agent.CliExit;
import dev.blackbox.agent.CliOutputs;
import dev.blackbox.agent.CliTurn;
import dev.blackbox.turn.Usage;
import dev.blackbox.turn.Work;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** One run of the imagined agent. It prints {@code say} events, and {@code done} at the end. */
final class ExampleTurn implements CliTurn {

  // [turn]
  private final CliEvents events;
  private final CliOutputs outputs = new CliOutputs();
  private final String session;
  private boolean done;

  ExampleTurn(CliEvents events, String session) {
    this.events = events;
    this.session = session;
  }

  @Override
  public List<String> arguments() {
    return List.of("--session", session);
  }

  @Override
  public void line(byte[] line) {
    Optional<Map<?, ?>> event = events.read(line); // keeps it in the trace
    if (event.isPresent()) {
      switch (String.valueOf(event.get().get("type"))) {
        case "say" -> outputs.begin(null).text(String.valueOf(event.get().get("text")));
        case "done" -> done = true;
        default -> {
          // the trace has it
        }
      }
    }
  }

  @Override
  public void note(String remark) {
    events.note(remark);
  }

  @Override
  public boolean isComplete() {
    return done;
  }

  @Override
  public Optional<CliTurn> again(CliExit exit) {
    return Optional.empty();
  }

  @Override
  public AgentResult judge(CliExit exit) {
    if (exit.isFailure() || !done) {
      return new AgentResult.Broken(
          Kind.TRANSPORT, events.failure(exit, "example error", ""), work());
    }
    return new AgentResult.Answered(work());
  }

  @Override
  public Work work() {
    Usage usage = new Usage(0, 0, 0, 0, outputs.steps(), outputs.calls());
    return new Work(outputs.json(), events.traceJson(), usage, session);
  }
  // [/turn]
}
