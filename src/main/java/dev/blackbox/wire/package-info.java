/**
 * The formats of the outside world: JSON, the HTTP API's messages, chat completions, server-sent
 * events, canonical JSON and fingerprints. The room that knows Jackson: nobody else names it. Start
 * at {@link dev.blackbox.wire.Json}. May use kernel.
 */
@NullMarked
package dev.blackbox.wire;

import org.jspecify.annotations.NullMarked;
