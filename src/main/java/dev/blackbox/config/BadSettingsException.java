package dev.blackbox.config;

import java.util.List;

/** Settings that cannot be used; all of them, one line each, for an operator. */
public final class BadSettingsException extends Exception {

  private final List<String> problems;

  public BadSettingsException(List<String> problems) {
    super(String.join("\n", problems));
    this.problems = List.copyOf(problems);
  }

  /** Each names the setting, where it was set, its value, and what is allowed. */
  public List<String> problems() {
    return problems;
  }
}
