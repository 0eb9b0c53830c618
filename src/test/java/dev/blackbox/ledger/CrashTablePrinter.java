package dev.blackbox.ledger;

import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Prints the table of the crash rig once more, as a whole, when all tests are done. */
public final class CrashTablePrinter implements BeforeAllCallback {

  @Override
  public void beforeAll(ExtensionContext context) {
    // The root's store is closed at the end of the whole run.
    context
        .getRoot()
        .getStore(ExtensionContext.Namespace.create(CrashTablePrinter.class))
        .getOrComputeIfAbsent(
            CrashTable.class, _ -> (ExtensionContext.Store.CloseableResource) CrashTable::printAll);
  }
}
