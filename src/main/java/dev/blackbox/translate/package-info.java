/**
 * Pure functions between model formats: requests and whole answers of Anthropic Messages and OpenAI
 * Responses from and to chat completions, step machines for their streams, what an engine's error
 * means, and how to say it to an agent in its own dialect. No I/O, no clock, no threads. {@code
 * docs/dialects.md} is the table of it all. Start at {@link
 * dev.blackbox.translate.AnthropicRequests} and {@link dev.blackbox.translate.DialectStream}. May
 * use wire and kernel.
 */
@NullMarked
package dev.blackbox.translate;

import org.jspecify.annotations.NullMarked;
