/**
 * The control door: routes, reading and checking requests, error answers, bounds on clients. Start
 * at {@link dev.blackbox.http.HttpDoor}, then {@code Routes} for the table of routes. May use
 * control, turn, wire and kernel.
 */
@NullMarked
package dev.blackbox.http;

import org.jspecify.annotations.NullMarked;
