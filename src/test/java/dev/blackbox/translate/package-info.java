/** Tests of the translation, with a corpus of cases that {@code docs/dialects.md} names. */
@NullMarked
package dev.blackbox.translate;

import org.jspecify.annotations.NullMarked;
