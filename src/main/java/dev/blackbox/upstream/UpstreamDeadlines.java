package dev.blackbox.upstream;

import java.time.Duration;
import java.util.Optional;

/**
 * How long one call may take.
 *
 * @param firstByte from the start to the head of the answer, connecting included
 * @param idle while waiting for the next bytes of the answer
 * @param total from the start to the last byte; empty: no limit of its own
 */
public record UpstreamDeadlines(Duration firstByte, Duration idle, Optional<Duration> total) {}
