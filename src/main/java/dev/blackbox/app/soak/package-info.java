/**
 * The soak: a real server under real kills, with clients that hold it to its promises. Start at
 * {@link dev.blackbox.app.soak.Soak}.
 */
@NullMarked
package dev.blackbox.app.soak;

import org.jspecify.annotations.NullMarked;
