package dev.blackbox.agent;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What every CLI agent finds in its environment: a few of the server's own variables, and a home,
 * state and temporary directory inside the runtime directory. Nothing else is inherited: no keys of
 * other services, no proxy settings.
 */
public final class CliEnvironment {

  private static final List<String> PASSED_ON =
      List.of("PATH", "LANG", "LC_ALL", "TZ", "SHELL", "USER", "LOGNAME");

  private CliEnvironment() {}

  /**
   * @param ours the server's own variables
   */
  public static Map<String, String> of(Map<String, String> ours, Path runtimeDirectory) {
    Map<String, String> environment = new HashMap<>();
    environment.put("LANG", "C.UTF-8");
    for (String name : PASSED_ON) {
      String value = ours.get(name);
      if (value != null) {
        environment.put(name, value);
      }
    }
    Path home = runtimeDirectory.resolve("home");
    environment.put("HOME", home.toString());
    environment.put("XDG_CONFIG_HOME", home.resolve(".config").toString());
    environment.put("XDG_CACHE_HOME", home.resolve(".cache").toString());
    environment.put("XDG_DATA_HOME", home.resolve(".local/share").toString());
    environment.put("XDG_STATE_HOME", home.resolve(".local/state").toString());
    environment.put("TMPDIR", runtimeDirectory.resolve("tmp").toString());
    environment.put("TERM", "dumb");
    return environment;
  }
}
