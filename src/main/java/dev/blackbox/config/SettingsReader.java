package dev.blackbox.config;

import dev.blackbox.control.ServerSettings;
import dev.blackbox.http.AccessRules;
import dev.blackbox.http.HttpConfig;
import dev.blackbox.kernel.Secret;
import dev.blackbox.ledger.LedgerConfig;
import dev.blackbox.ledger.Retention;
import dev.blackbox.proxy.CaptureConfig;
import dev.blackbox.proxy.ProxyConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** One reading of all settings: layers them, checks them, and makes the rooms' records of them. */
final class SettingsReader {

  /** Longest part of a refused value that an error repeats, in UTF-16 units. */
  private static final int ECHO_MAX = 200;

  /** {@code BBS_*} variables that are read by others: the launcher, and the process room. */
  private static final List<String> OTHER_VARIABLES =
      List.of("BBS_JAVA_HOME", "BBS_JAVA_OPTS", "BBS_AOT", "BBS_PROCESS_MARKER", "BBS_PROCESS_ID");

  private final Map<Setting, Given> given = new EnumMap<>(Setting.class);
  private final List<String> problems = new ArrayList<>();
  private final List<String> unknownVariables;
  private Optional<Secret> token = Optional.empty();

  /** A value, and who gave it. */
  private record Given(String value, String source) {}

  SettingsReader(
      Map<Setting, String> defaults,
      Map<String, String> environment,
      Map<Setting, String> options) {
    for (Setting setting : Setting.values()) {
      given.put(setting, new Given(defaults.getOrDefault(setting, ""), setting.variable()));
      String variable = environment.get(setting.variable());
      if (variable != null && !variable.isBlank()) {
        given.put(setting, new Given(variable.strip(), setting.variable()));
      }
      String option = options.get(setting);
      if (option != null && setting.isOption()) {
        given.put(setting, new Given(option.strip(), setting.option()));
      }
    }
    unknownVariables =
        environment.keySet().stream()
            .filter(name -> name.startsWith("BBS_"))
            .filter(name -> Setting.ofVariable(name).isEmpty() && !OTHER_VARIABLES.contains(name))
            .sorted()
            .toList();
  }

  ServerConfiguration read() throws BadSettingsException {
    given.forEach(this::check);
    if (problems.isEmpty()) {
      checkScriptAgent();
      readToken();
      checkOrder(Setting.MAX_BODY_BYTES, "at most", Setting.HTTP_BODIES_BYTES_MAX);
      checkOrder(Setting.HTTP_LONG_POLLS_MAX, "below", Setting.HTTP_REQUESTS_MAX);
      checkOrder(Setting.HTTP_REQUESTS_MAX, "below", Setting.HTTP_CONNECTIONS_MAX);
    }
    if (!problems.isEmpty()) {
      throw new BadSettingsException(problems);
    }
    return new ServerConfiguration(
        server(),
        http(),
        ledger(),
        proxy(),
        promptRoots(),
        scriptAgent(),
        logLevel(),
        unknownVariables);
  }

  private void check(Setting setting, Given it) {
    boolean good =
        it.value.isEmpty() ? setting.kind().mayBeEmpty() : setting.kind().allows(it.value);
    if (!good) {
      refuse(setting, setting.kind().allowed());
    }
  }

  private void checkScriptAgent() {
    scriptAgent()
        .filter(program -> !Files.isRegularFile(program) || !Files.isExecutable(program))
        .ifPresent(_ -> refuse(Setting.SCRIPT_AGENT, "a program that exists and may be executed"));
  }

  /** Neither the token nor any part of it gets into a message. */
  private void readToken() {
    Kind.Hidden kind = (Kind.Hidden) Setting.API_TOKEN.kind();
    String inVariable = text(Setting.API_TOKEN);
    Optional<Path> file = path(Setting.API_TOKEN_FILE);
    if (file.isEmpty()) {
      token = inVariable.isEmpty() ? Optional.empty() : Optional.of(Secret.of(inVariable));
    } else if (!inVariable.isEmpty()) {
      refuse(Setting.API_TOKEN_FILE, "empty if " + Setting.API_TOKEN.variable() + " is set");
    } else {
      token = tokenIn(file.get(), kind);
      if (token.isEmpty()) {
        refuse(
            Setting.API_TOKEN_FILE,
            "a file that exists, can be read and has nothing but the token in it, at most "
                + kind.lengthMax()
                + " visible ASCII characters");
      }
    }
  }

  private static Optional<Secret> tokenIn(Path file, Kind.Hidden kind) {
    try {
      // A device or a pipe would be read for ever, and what is longer is no token.
      if (!Files.isRegularFile(file) || Files.size(file) > kind.lengthMax() + 2L) {
        return Optional.empty();
      }
      String text = Files.readString(file).strip();
      return text.isEmpty() || !kind.allows(text) ? Optional.empty() : Optional.of(Secret.of(text));
    } catch (IOException unreadable) {
      return Optional.empty();
    }
  }

  /** Clients that only wait must leave room for the others. */
  private void checkOrder(Setting less, String relation, Setting more) {
    boolean good =
        relation.equals("below") ? large(less) < large(more) : large(less) <= large(more);
    if (!good) {
      refuse(less, relation + " " + value(more).source + ", which is \"" + text(more) + "\"");
    }
  }

  private void refuse(Setting setting, String allowed) {
    Given it = value(setting);
    boolean hidden = setting.kind() instanceof Kind.Hidden;
    String shown = hidden ? "set to what is not shown here" : "\"" + shortened(it.value) + "\"";
    problems.add(it.source + " is " + shown + ", but must be " + allowed + ".");
  }

  private ServerSettings server() {
    return new ServerSettings(
        text(Setting.HOST),
        whole(Setting.PORT),
        directory(Setting.RUNTIME_ROOT).toString(),
        whole(Setting.MAX_SESSIONS),
        whole(Setting.MAX_TURNS),
        seconds(Setting.BACKEND_TIMEOUT),
        seconds(Setting.EXECUTE_CMD_TIMEOUT),
        whole(Setting.ROUTER_TIMEOUT),
        seconds(Setting.SHUTDOWN_TIMEOUT),
        seconds(Setting.HEALTH_CHECK_INTERVAL),
        seconds(Setting.HEALTH_CHECK_TIMEOUT),
        seconds(Setting.RUNTIME_HEALTH_CHECK_INTERVAL),
        whole(Setting.RUNTIME_HEALTH_CHECK_RETRIES),
        seconds(Setting.RUNTIME_HEALTH_CHECK_RETRY_DELAY));
  }

  private HttpConfig http() {
    return new HttpConfig(
        text(Setting.HOST),
        whole(Setting.PORT),
        large(Setting.MAX_BODY_BYTES),
        large(Setting.HTTP_BODIES_BYTES_MAX),
        whole(Setting.HTTP_HEADER_BYTES_MAX),
        whole(Setting.HTTP_CONNECTIONS_MAX),
        whole(Setting.HTTP_REQUESTS_MAX),
        whole(Setting.HTTP_LONG_POLLS_MAX),
        HttpConfig.DEFAULTS.waitSecondsMax(),
        whole(Setting.HTTP_PAGE_TURNS_MAX),
        duration(Setting.HTTP_REQUEST_READ_TIMEOUT),
        duration(Setting.HTTP_ANSWER_WRITE_TIMEOUT),
        duration(Setting.HTTP_IDLE_TIMEOUT),
        HttpConfig.DEFAULTS.shutdownGrace(),
        new AccessRules(token, names(Setting.ALLOWED_HOSTS), names(Setting.ALLOWED_ORIGINS)));
  }

  private LedgerConfig ledger() {
    return new LedgerConfig(
        path(Setting.STATE_DIR).orElse(directory(Setting.RUNTIME_ROOT).resolve("state")),
        LedgerConfig.Sync.valueOf(constant(Setting.LEDGER_SYNC)),
        whole(Setting.LEDGER_QUEUE_MAX),
        large(Setting.LEDGER_CHECKPOINT_BYTES),
        duration(Setting.LEDGER_CHECKPOINT_SECONDS),
        whole(Setting.LEDGER_READ_CONNECTIONS),
        large(Setting.LEDGER_RECENT_READS_BYTES_MAX),
        new Retention(large(Setting.LEDGER_MAX_BYTES), duration(Setting.LEDGER_RETENTION_SECONDS)));
  }

  private ProxyConfig proxy() {
    return new ProxyConfig(
        whole(Setting.PROXY_PORT),
        large(Setting.PROXY_BODY_BYTES_MAX),
        large(Setting.PROXY_RESPONSE_BYTES_MAX),
        whole(Setting.PROXY_CONCURRENT_CALLS_MAX),
        duration(Setting.PROXY_CONNECT_TIMEOUT),
        duration(Setting.PROXY_FIRST_BYTE_TIMEOUT),
        duration(Setting.PROXY_IDLE_TIMEOUT),
        duration(Setting.PROXY_TOTAL_TIMEOUT),
        new ProxyConfig.KeepAlive(
            duration(Setting.PROXY_KEEPALIVE_AFTER), duration(Setting.PROXY_KEEPALIVE_INTERVAL)),
        new ProxyConfig.Retries(
            whole(Setting.PROXY_RETRIES_MAX),
            duration(Setting.PROXY_RETRY_DELAY),
            duration(Setting.PROXY_RETRY_DELAY_MAX)),
        new ProxyConfig.AgentRetries(
            whole(Setting.PROXY_AGENT_RETRIES_MAX), large(Setting.PROXY_REPLAY_BYTES_MAX)),
        large(Setting.PROXY_TOOL_CALL_BYTES_MAX),
        new CaptureConfig(
            CaptureConfig.Mode.valueOf(constant(Setting.CAPTURE)),
            ledger().directory().resolve(CaptureConfig.DIRECTORY_NAME),
            large(Setting.CAPTURE_MAX_BYTES),
            whole(Setting.CAPTURE_BODY_BYTES_MAX),
            large(Setting.CAPTURE_MEMORY_BYTES_MAX),
            large(Setting.CAPTURE_DISK_FREE_BYTES_MIN)));
  }

  private List<Path> promptRoots() {
    return Arrays.stream(text(Setting.PROMPT_ROOTS).split(":"))
        .filter(root -> !root.isEmpty())
        .map(root -> Path.of(root).toAbsolutePath().normalize())
        .toList();
  }

  private Set<String> names(Setting setting) {
    return Arrays.stream(text(setting).split(","))
        .map(String::strip)
        .filter(name -> !name.isEmpty())
        .collect(Collectors.toUnmodifiableSet());
  }

  private Optional<Path> scriptAgent() {
    return path(Setting.SCRIPT_AGENT);
  }

  private LogLevel logLevel() {
    return LogLevel.valueOf(constant(Setting.LOG_LEVEL));
  }

  private Given value(Setting setting) {
    Given it = given.get(setting);
    if (it == null) {
      throw new IllegalStateException("no value for " + setting);
    }
    return it;
  }

  private String text(Setting setting) {
    return value(setting).value;
  }

  private String constant(Setting setting) {
    return text(setting).toUpperCase(Locale.ROOT);
  }

  private int whole(Setting setting) {
    return Integer.parseInt(text(setting));
  }

  private long large(Setting setting) {
    return Long.parseLong(text(setting));
  }

  private double seconds(Setting setting) {
    return Double.parseDouble(text(setting));
  }

  /** Rounded up to a whole nanosecond, so that a positive time stays positive. */
  private Duration duration(Setting setting) {
    return Duration.ofNanos((long) Math.ceil(seconds(setting) * 1e9));
  }

  private Path directory(Setting setting) {
    return Path.of(text(setting)).toAbsolutePath().normalize();
  }

  private Optional<Path> path(Setting setting) {
    return text(setting).isEmpty() ? Optional.empty() : Optional.of(directory(setting));
  }

  private static String shortened(String value) {
    String printable = value.replaceAll("\\p{Cntrl}", "?");
    return printable.length() <= ECHO_MAX ? printable : printable.substring(0, ECHO_MAX) + "…";
  }
}
