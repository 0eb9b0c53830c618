package dev.blackbox.control;

import dev.blackbox.control.Rollout.Check;
import dev.blackbox.control.Rollout.RunView;
import dev.blackbox.control.Rollout.SessionCountsView;
import dev.blackbox.control.Rollout.StatusView;
import dev.blackbox.kernel.Problem;
import dev.blackbox.ledger.Ledger;
import dev.blackbox.ledger.LedgerFacts;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What the server says about itself. Never waits for an agent, a turn, a command or a disk. */
final class ServerReport {

  private final Ledger ledger;
  private final ServerStatus status;
  private final Binder binder;
  private final HealthMonitor monitor;
  private final Recovery.Report recovered;
  private final ServerSettings settings;
  private final List<String> implementedBackends;
  private final List<String> knownBackends;
  private final long startedNanos = System.nanoTime();

  ServerReport(
      Ledger ledger,
      ServerStatus status,
      Binder binder,
      HealthMonitor monitor,
      Recovery.Report recovered,
      ServerSettings settings,
      List<String> implementedBackends,
      List<String> knownBackends) {
    this.ledger = ledger;
    this.status = status;
    this.binder = binder;
    this.monitor = monitor;
    this.recovered = recovered;
    this.settings = settings;
    this.implementedBackends = List.copyOf(implementedBackends);
    this.knownBackends = List.copyOf(knownBackends);
  }

  StatusView status() {
    LedgerFacts.SessionCounts counts = ledger.reads().sessionCounts();
    Optional<LiveBinding> live = binder.current();
    ServerStatus.Now now = status.now();
    return new StatusView(
        now.state().wireName(),
        live.map(LiveBinding::view),
        new SessionCountsView(counts.active(), counts.desynced(), counts.aborted()),
        live.map(LiveBinding::effective).orElse(settings),
        implementedBackends,
        knownBackends,
        new RunView(
            now.reason(),
            Duration.ofNanos(System.nanoTime() - startedNanos),
            ledger.boot(),
            health(now, live),
            live.flatMap(binding -> ledger.reads().activeTurn(binding.sessionKey())),
            disk(),
            counts()));
  }

  private Rollout.HealthView health(ServerStatus.Now now, Optional<LiveBinding> live) {
    Optional<Instant> lookedAt = live.flatMap(monitor::lastSeenHealthy);
    return switch (now.state()) {
      case READY -> new Rollout.HealthView("healthy", "", lookedAt);
      case ERROR -> new Rollout.HealthView("unhealthy", now.reason(), lookedAt);
      case IDLE, INITIALIZING, SHUTTING_DOWN ->
          new Rollout.HealthView("unknown", "no agent is ready", lookedAt);
    };
  }

  private Rollout.LedgerView disk() {
    LedgerFacts.DiskUse use = ledger.reads().diskUse();
    return new Rollout.LedgerView(
        use.bytes(), use.bytesInUse(), use.bytesMax(), use.sessionsTrimmed());
  }

  private Map<String, Number> counts() {
    Map<String, Number> named = new LinkedHashMap<>();
    recovered.counts().forEach((words, count) -> named.put(words.replace(' ', '_'), count));
    return named;
  }

  List<Check> checks() {
    ServerStatus.Now now = status.now();
    List<Check> checks = new ArrayList<>();
    checks.add(ledgerCheck());
    boolean bound = binder.current().isPresent();
    checks.add(
        switch (now.state()) {
          case IDLE -> new Check("server", true, "idle: nothing is registered yet");
          case READY -> new Check("server", true, "ready");
          case INITIALIZING ->
              new Check("server", false, "initializing: an agent is being started");
          case SHUTTING_DOWN -> new Check("server", false, "shutting_down");
          case ERROR -> new Check("server", false, "error: " + now.reason());
        });
    checks.add(
        switch (now.state()) {
          case READY -> new Check("agent", true, "takes turns");
          case IDLE -> new Check("agent", true, "none is registered");
          case INITIALIZING -> new Check("agent", false, "is being started");
          case SHUTTING_DOWN -> new Check("agent", false, "is being ended");
          case ERROR ->
              new Check(
                  "agent", false, (bound ? "is gone: " : "could not be had: ") + now.reason());
        });
    return checks;
  }

  /** Empty if there is none, or if the database cannot be asked at the moment. */
  private String budget() {
    try {
      Rollout.LedgerView disk = disk();
      return disk.bytesMax() == 0
          ? ""
          : "; %d of %d bytes in use, %d sessions trimmed"
              .formatted(disk.bytesInUse(), disk.bytesMax(), disk.sessionsTrimmed());
    } catch (Problem unreadable) {
      return "; " + unreadable.text();
    }
  }

  private Check ledgerCheck() {
    if (ledger.isClosed()) {
      return new Check("ledger", false, "is closed");
    }
    String trouble = ledger.trouble();
    return trouble.isEmpty()
        ? new Check(
            "ledger",
            true,
            "takes facts, boot "
                + ledger.boot()
                + ledger.putRight().map(what -> "; " + what).orElse("")
                + budget())
        : new Check("ledger", false, trouble);
  }
}
