package dev.blackbox.control;

import dev.blackbox.ledger.Ledger;
import dev.blackbox.ledger.LedgerFacts;
import dev.blackbox.proxy.CallSink;
import java.util.Optional;
import java.util.OptionalLong;

/** Writes what the proxy tells about model calls into the ledger. */
public final class LedgerCallSink implements CallSink {

  private final Ledger ledger;

  public LedgerCallSink(Ledger ledger) {
    this.ledger = ledger;
  }

  @Override
  public void started(CallStarted call) {
    ledger.note(
        new LedgerFacts.CallStarted(
            call.callId(),
            call.turn(),
            call.step(),
            call.dialect(),
            call.stream(),
            call.model(),
            call.requestBytes(),
            call.at(),
            call.purpose(),
            call.resent().map(CallSink.Resent::callId),
            call.resent().map(CallSink.Resent::as)));
  }

  @Override
  public void ended(CallEnded call) {
    ledger.note(
        new LedgerFacts.CallEnded(
            call.callId(),
            call.status(),
            call.verdict(),
            call.firstByteAt(),
            call.at(),
            call.responseBytes(),
            call.promptTokens(),
            call.completionTokens(),
            call.reasoningTokens(),
            call.cachedTokens(),
            call.toolCalls(),
            call.finishReason(),
            call.error(),
            call.retries(),
            call.sentAt(),
            call.requestHash(),
            call.responseHash(),
            call.tokensEstimated(),
            Optional.of(call.capture().wireName())));
  }

  @Override
  public void refused(CallRefused call) {
    ledger.note(
        new LedgerFacts.CallRefused(
            OptionalLong.empty(),
            call.turn(),
            call.reason(),
            call.method(),
            call.path(),
            call.at()));
  }
}
