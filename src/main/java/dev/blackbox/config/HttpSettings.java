package dev.blackbox.config;

import dev.blackbox.http.AccessRules;
import java.time.Duration;

/**
 * What can be set about the control door.
 *
 * @param port 0 lets the system choose one
 * @param bodyBytesMax largest request body; beyond it 413
 * @param bodiesBytesMax bytes of request bodies held at once; beyond it 503
 * @param headerBytesMax largest request line, and largest block of headers
 * @param connectionsMax open connections; further ones wait
 * @param requestsMax requests in work at once, waiting ones included; beyond it 503
 * @param longPollsMax of these, polls that wait for a turn; beyond it 503
 * @param pageTurnsMax turns that one answer about a session tells of
 * @param requestReadTimeout from the first sign of a request to its last byte
 * @param answerWriteTimeout for handing one piece of an answer to the client
 * @param idleTimeout how long a connection may be open without a request
 * @param access who may use it
 */
public record HttpSettings(
    String host,
    int port,
    long bodyBytesMax,
    long bodiesBytesMax,
    int headerBytesMax,
    int connectionsMax,
    int requestsMax,
    int longPollsMax,
    int pageTurnsMax,
    Duration requestReadTimeout,
    Duration answerWriteTimeout,
    Duration idleTimeout,
    AccessRules access) {}
