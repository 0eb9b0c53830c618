package dev.blackbox.ledger;

import dev.blackbox.kernel.TurnId;
import dev.blackbox.ledger.LedgerFacts.Binding;
import dev.blackbox.ledger.LedgerFacts.Bound;
import dev.blackbox.ledger.LedgerFacts.CallFact;
import dev.blackbox.ledger.LedgerFacts.OpenBinding;
import dev.blackbox.ledger.LedgerFacts.Pause;
import dev.blackbox.ledger.Rows.KeyedBinding;
import dev.blackbox.turn.SessionSnapshot.SystemPrompt;
import dev.blackbox.turn.TurnKey;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;

/**
 * The verbs about what surrounds turns: boots, bindings, commands, processes, model calls. Each in
 * the open transaction of a batch.
 */
final class SlotVerbs {

  private static final System.Logger LOG = System.getLogger(SlotVerbs.class.getName());

  /** Longest part of a refused path that is kept. */
  private static final int PATH_CHARS_MAX = 1024;

  private SlotVerbs() {}

  /** Which boot of which ledger this is. */
  record Opened(long boot, String ledgerId) {}

  static Opened bootStarted(Batch batch, LedgerFacts.BootStarting boot) {
    long number = Rows.nextNumber(batch.rows(), "boot", "boot");
    String ledgerId =
        Sql.first(
                batch.rows(), "SELECT ledger_id FROM boot WHERE boot = 1", row -> row.getString(1))
            .orElseGet(() -> UUID.randomUUID().toString());
    batch.record(
        new Fact.BootStarted(
            batch.now(), number, ledgerId, boot.serverVersion(), boot.pid(), boot.machineBootId()));
    return new Opened(number, ledgerId);
  }

  static void bootEnded(Batch batch, long boot) {
    batch.record(new Fact.BootEnded(batch.now(), boot));
  }

  static Bound bind(Batch batch, long boot, Binding binding) {
    Optional<KeyedBinding> replaced = Rows.openBinding(batch.rows());
    replaced.ifPresent(
        old ->
            batch.record(
                new Fact.BindingClosed(
                    batch.now(), old.bindingKey(), old.open().binding().runtimeId(), "replaced")));
    if (!isKnown(batch, binding.configHash())) {
      batch.record(new Fact.ConfigSeen(batch.now(), binding.configHash(), binding.configJson()));
    }
    long bindingKey = Rows.nextNumber(batch.rows(), "binding", "binding_key");
    long sessionKey =
        binding.continues().isPresent()
            ? TurnVerbs.session(batch, binding.continues().getAsLong()).key()
            : Rows.nextNumber(batch.rows(), "session", "session_key");
    Pause pause =
        binding.continues().isPresent()
            ? replaced.map(KeyedBinding::open).map(OpenBinding::pause).orElse(Pause.NONE)
            : Pause.NONE;
    batch.record(opened(batch, boot, binding, bindingKey, sessionKey, pause));
    if (binding.continues().isEmpty()) {
      batch.record(
          new Fact.SessionOpened(
              batch.now(),
              sessionKey,
              binding.sessionId().value(),
              binding.instanceId().value(),
              bindingKey,
              binding.runtimeId(),
              binding.backendType()));
    }
    return new Bound(binding.runtimeId(), sessionKey);
  }

  private static Fact opened(
      Batch batch, long boot, Binding binding, long bindingKey, long sessionKey, Pause pause) {
    return new Fact.BindingOpened(
        batch.now(),
        bindingKey,
        binding.runtimeId(),
        boot,
        binding.backendType(),
        binding.fingerprint(),
        binding.configHash(),
        sessionKey,
        binding.sessionId().value(),
        binding.instanceId().value(),
        binding.proxyPort(),
        binding.systemPrompt().map(SystemPrompt::sourceFile),
        pause.paused(),
        pause.reason(),
        pause.version(),
        binding.parametersJson(),
        binding.viewJson(),
        binding.systemPrompt().map(SystemPrompt::text));
  }

  private static boolean isKnown(Batch batch, String configHash) {
    return Sql.first(
            batch.rows(),
            "SELECT 1 FROM config WHERE config_hash = ?",
            row -> row.getInt(1),
            configHash)
        .isPresent();
  }

  private static Optional<KeyedBinding> open(Batch batch, String runtimeId) {
    return Rows.openBinding(batch.rows())
        .filter(found -> found.open().binding().runtimeId().equals(runtimeId));
  }

  static boolean unbind(Batch batch, String runtimeId, String reason) {
    Optional<KeyedBinding> open = open(batch, runtimeId);
    open.ifPresent(
        found ->
            batch.record(
                new Fact.BindingClosed(batch.now(), found.bindingKey(), runtimeId, reason)));
    return open.isPresent();
  }

  static void bindingState(Batch batch, String runtimeId, String state, String reason) {
    open(batch, runtimeId)
        .filter(
            found ->
                !found.open().state().equals(state) || !found.open().stateReason().equals(reason))
        .ifPresent(
            found ->
                batch.record(
                    new Fact.BindingStateChanged(
                        batch.now(), found.bindingKey(), runtimeId, state, reason)));
  }

  static void pause(Batch batch, String runtimeId, Pause pause) {
    open(batch, runtimeId)
        .filter(found -> !found.open().pause().equals(pause))
        .ifPresent(
            found ->
                batch.record(
                    new Fact.PauseChanged(
                        batch.now(),
                        found.bindingKey(),
                        runtimeId,
                        pause.paused(),
                        pause.reason(),
                        pause.version())));
  }

  static void processStarted(Batch batch, long boot, LedgerFacts.ProcessStart process) {
    batch.record(
        new Fact.ProcessStarted(
            batch.now(),
            boot,
            process.kind(),
            process.pid(),
            process.startTicks(),
            process.machineBootId()));
  }

  static boolean processEnded(Batch batch, LedgerFacts.ProcessEnd process) {
    boolean runs =
        Sql.first(
                batch.rows(),
                """
                SELECT 1 FROM process WHERE pid = ? AND start_ticks = ?
                  AND machine_boot_id = ? AND ended_at IS NULL\
                """,
                row -> row.getInt(1),
                process.pid(),
                process.startTicks(),
                process.machineBootId())
            .isPresent();
    if (runs) {
      batch.record(
          new Fact.ProcessEnded(
              batch.now(),
              process.pid(),
              process.startTicks(),
              process.machineBootId(),
              process.exitCode()));
    }
    return runs;
  }

  static void note(Batch batch, CallFact call) {
    switch (call) {
      case LedgerFacts.CallStarted started -> callStarted(batch, started);
      case LedgerFacts.CallEnded ended -> callEnded(batch, ended);
      case LedgerFacts.CallRefused refused -> callRefused(batch, refused);
    }
  }

  private static void callStarted(Batch batch, LedgerFacts.CallStarted call) {
    batch.record(
        new Fact.CallStarted(
            batch.now(),
            call.callId(),
            call.turn().sessionKey(),
            call.turn().turnId().value(),
            call.step(),
            call.dialect(),
            call.stream(),
            call.model(),
            call.requestBytes(),
            micros(call.arrivedAt()),
            Optional.of(call.purpose()),
            call.retryOf(),
            call.retryAs()));
  }

  private static void callEnded(Batch batch, LedgerFacts.CallEnded call) {
    Optional<TurnKey> turn = CallRows.turnOfOpenCall(batch.rows(), call.callId());
    if (turn.isEmpty()) {
      LOG.log(
          System.Logger.Level.WARNING,
          "model call {0} is not open; its end is not recorded",
          call.callId());
      return;
    }
    batch.record(
        new Fact.CallEnded(
            batch.now(),
            call.callId(),
            turn.get().sessionKey(),
            turn.get().turnId().value(),
            call.status(),
            call.verdict(),
            call.firstByteAt().map(SlotVerbs::micros),
            micros(call.endedAt()),
            call.responseBytes(),
            call.promptTokens(),
            call.completionTokens(),
            call.reasoningTokens(),
            call.cachedTokens(),
            call.toolCalls(),
            call.finishReason(),
            call.error(),
            OptionalInt.of(call.retries()),
            call.sentAt().map(SlotVerbs::micros),
            call.requestHash(),
            call.responseHash(),
            call.tokensEstimated() ? Optional.of("estimate") : Optional.empty(),
            call.capture()));
  }

  private static void callRefused(Batch batch, LedgerFacts.CallRefused call) {
    String path = call.path();
    batch.record(
        new Fact.CallRefused(
            batch.now(),
            call.sessionKey(),
            call.turnId().map(TurnId::value),
            call.reason(),
            call.method(),
            path.length() <= PATH_CHARS_MAX ? path : path.substring(0, PATH_CHARS_MAX),
            micros(call.at())));
  }

  private static Instant micros(Instant time) {
    return time.truncatedTo(ChronoUnit.MICROS);
  }
}
