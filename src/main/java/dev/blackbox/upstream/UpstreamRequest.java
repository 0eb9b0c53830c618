package dev.blackbox.upstream;

import java.net.URI;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A request to an engine.
 *
 * @param headers by name, each with its values; the ones that belong to the connection (host,
 *     content-length, …) are made by the client and must not be here
 * @param body null for a request without one
 */
@SuppressWarnings("ArrayRecordComponent") // never compared; bodies are not copied on the way
public record UpstreamRequest(
    String method,
    URI uri,
    Map<String, List<String>> headers,
    byte @Nullable [] body,
    UpstreamDeadlines deadlines) {}
