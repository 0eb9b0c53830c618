/**
 * Reads settings, once, into the rooms' own config records: shipped defaults, then the environment,
 * then the command line; all errors reported together. {@link dev.blackbox.config.Setting} is the
 * one table of what can be set; start there. May use the config records of the rooms.
 */
@NullMarked
package dev.blackbox.config;

import org.jspecify.annotations.NullMarked;
