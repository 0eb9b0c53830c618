package dev.blackbox.config;

import dev.blackbox.control.ServerSettings;
import dev.blackbox.http.HttpConfig;
import dev.blackbox.ledger.LedgerConfig;
import dev.blackbox.proxy.ProxyConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Everything that was set, as the rooms want it.
 *
 * @param server what the HTTP API reports
 * @param promptRoots directories that a system prompt file must lie under, absolute; empty:
 *     anywhere
 * @param scriptAgent the operator's own agent program, absolute
 * @param unknownVariables {@code BBS_*} variables that are no setting: typing errors, most likely
 */
public record ServerConfiguration(
    ServerSettings server,
    HttpConfig http,
    LedgerConfig ledger,
    ProxyConfig proxy,
    List<Path> promptRoots,
    Optional<Path> scriptAgent,
    LogLevel logLevel,
    List<String> unknownVariables) {

  public ServerConfiguration {
    promptRoots = List.copyOf(promptRoots);
    unknownVariables = List.copyOf(unknownVariables);
  }

  /**
   * Reads all settings.
   *
   * @param environment of the process; an empty variable counts as not set
   * @param options from the command line, which win
   */
  public static ServerConfiguration read(
      Map<String, String> environment, Map<Setting, String> options) throws BadSettingsException {
    return new SettingsReader(Defaults.shipped(), environment, options).read();
  }
}
