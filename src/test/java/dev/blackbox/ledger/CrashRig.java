package dev.blackbox.ledger;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A part of the crash rig: in every build with a few seeds and points, with all of them in {@code
 * mvn verify -Pcrash}. Says nothing in the log, and has a line in the table.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Tag("crash")
@ExtendWith({QuietLog.class, CrashTablePrinter.class})
public @interface CrashRig {}
