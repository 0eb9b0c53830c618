package dev.blackbox.agent;

import dev.blackbox.agent.claude.ClaudeBackend;
import dev.blackbox.agent.codex.CodexBackend;
import dev.blackbox.agent.openclaw.OpenclawBackend;
import dev.blackbox.agent.opencode.OpencodeBackend;
import dev.blackbox.agent.script.ScriptBackend;
import dev.blackbox.process.Processes;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The table of backends: to add one, add its sub-package and one line here. */
public final class Backends {

  /** The types of the reference server, in the order in which the status lists them. */
  public static final List<String> STANDARD_TYPES =
      List.of("opencode", "openclaw", "claude_code", "codex");

  private final Map<String, Backend> byType = new LinkedHashMap<>();

  /** A table of exactly these backends. */
  public Backends(List<Backend> backends) {
    backends.forEach(backend -> byType.put(backend.type(), backend));
  }

  /**
   * The backends that this server has.
   *
   * @param environment the server's own variables: where agents are looked for
   * @param script the operator's own agent program; without it there is no backend {@code script}
   */
  public static Backends standard(
      Map<String, String> environment, Processes processes, Optional<Path> script) {
    List<Backend> backends = new ArrayList<>();
    backends.add(new OpencodeBackend(environment, processes));
    backends.add(new OpenclawBackend(environment, processes));
    backends.add(new ClaudeBackend(environment, processes));
    backends.add(new CodexBackend(environment, processes));
    script.ifPresent(program -> backends.add(new ScriptBackend(program, environment)));
    return new Backends(backends);
  }

  /** This table and a few more, which come last. */
  public Backends with(List<Backend> more) {
    List<Backend> all = new ArrayList<>(byType.values());
    all.addAll(more);
    return new Backends(all);
  }

  /** Exact match, as in the reference server: case counts, blanks are not trimmed. */
  public Optional<Backend> find(String type) {
    return Optional.ofNullable(byType.get(type));
  }

  /** Types that can be registered, the standard ones first. */
  public List<String> implementedTypes() {
    return knownTypes().stream().filter(byType::containsKey).toList();
  }

  /** Types that mean something, whether or not they can be registered yet. */
  public List<String> knownTypes() {
    List<String> known = new ArrayList<>(STANDARD_TYPES);
    byType.keySet().stream().filter(type -> !known.contains(type)).forEach(known::add);
    return known;
  }
}
