package dev.blackbox.config;

/** How much is logged. */
public enum LogLevel {
  ERROR,
  WARNING,
  INFO,
  DEBUG,
  TRACE
}
