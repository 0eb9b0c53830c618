/**
 * Words that all rooms share: identifiers as types, the one failure type with its stable codes,
 * resources and how they are closed. Start at {@link dev.blackbox.kernel.Problem}. Uses the JDK
 * only, and stays under ten types.
 */
@NullMarked
package dev.blackbox.kernel;

import org.jspecify.annotations.NullMarked;
