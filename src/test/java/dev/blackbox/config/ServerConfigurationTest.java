package dev.blackbox.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.blackbox.control.ServerSettings;
import dev.blackbox.http.AccessRules;
import dev.blackbox.http.HttpConfig;
import dev.blackbox.ledger.LedgerConfig;
import dev.blackbox.ledger.Retention;
import dev.blackbox.proxy.CaptureConfig;
import dev.blackbox.proxy.ProxyConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServerConfigurationTest {

  @TempDir private Path directory;

  private static final CaptureConfig CAPTURE =
      new CaptureConfig(
          CaptureConfig.Mode.ERRORS, Path.of("/t/captures"), 1L << 40, 2051, 1L << 32, 4099);

  @Test
  void theShippedDefaultsAreTheRoomsDefaults() throws BadSettingsException {
    ServerConfiguration read = ServerConfiguration.read(Map.of(), Map.of());

    assertThat(read.server()).isEqualTo(ServerSettings.DEFAULTS);
    assertThat(read.ledger()).isEqualTo(LedgerConfig.at(Path.of("/tmp/blackbox_server/state")));
    assertThat(read.proxy())
        .isEqualTo(
            ProxyConfig.DEFAULTS.withCapture(
                CaptureConfig.off(Path.of("/tmp/blackbox_server/state/captures"))));
    assertThat(read.http()).isEqualTo(HttpConfig.DEFAULTS);
    assertThat(read.scriptAgent()).isEmpty();
    assertThat(read.logLevel()).isEqualTo(LogLevel.INFO);
    assertThat(read.unknownVariables()).isEmpty();
  }

  @Test
  void everyVariableReachesItsField() throws Exception {
    Path agent = program();
    Map<String, String> environment = everyVariable(agent);
    // All but the token's file, which excludes the token.
    assertThat(environment).hasSize(Setting.values().length - 1);

    ServerConfiguration read = ServerConfiguration.read(environment, Map.of());
    assertThat(read.http().access().token().orElseThrow().reveal()).isEqualTo("s3cret-token");
    assertThat(read)
        .isEqualTo(
            new ServerConfiguration(
                new ServerSettings("::1", 0, "/r", 2, 3, 4.5, 5.5, 6, 7.0, 0.8, 9.0, 10.0, 11, 0.0),
                new HttpConfig(
                    "::1",
                    0,
                    4096,
                    4097,
                    4098,
                    32,
                    31,
                    30,
                    HttpConfig.DEFAULTS.waitSecondsMax(),
                    26,
                    Duration.ofSeconds(29),
                    Duration.ofSeconds(28),
                    Duration.ofSeconds(27),
                    HttpConfig.DEFAULTS.shutdownGrace(),
                    new AccessRules(
                        read.http().access().token(),
                        Set.of("slot-1", "10.0.0.5"),
                        Set.of("http://a:1"))),
                new LedgerConfig(
                    Path.of("/t"),
                    LedgerConfig.Sync.PROCESS,
                    18,
                    1L << 32,
                    Duration.ofMillis(1250),
                    19,
                    1919,
                    new Retention(1_000_000, Duration.ofDays(1))),
                new ProxyConfig(
                    20,
                    2048,
                    2049,
                    21,
                    Duration.ofSeconds(22),
                    Duration.ofSeconds(23),
                    Duration.ofMillis(500),
                    Duration.ofSeconds(24),
                    new ProxyConfig.KeepAlive(Duration.ofSeconds(25), Duration.ofSeconds(26)),
                    new ProxyConfig.Retries(27, Duration.ofSeconds(28), Duration.ofSeconds(29)),
                    new ProxyConfig.AgentRetries(30, 1_000_000_000),
                    2050,
                    CAPTURE),
                List.of(Path.of("/p"), Path.of("/q/r")),
                Optional.of(agent),
                LogLevel.DEBUG,
                List.of()));
  }

  @Test
  void optionsWinOverVariablesAndVariablesOverDefaults() throws BadSettingsException {
    Map<String, String> environment = Map.of("BBS_PORT", "1001", "BBS_MAX_TURNS", "7");

    ServerSettings read =
        ServerConfiguration.read(environment, Map.of(Setting.PORT, "1002")).server();

    assertThat(read.port()).isEqualTo(1002);
    assertThat(read.maxTurns()).isEqualTo(7);
    assertThat(read.maxSessions()).isEqualTo(1);
  }

  @Test
  void anEmptyVariableCountsAsNotSet() throws BadSettingsException {
    assertThat(ServerConfiguration.read(Map.of("BBS_PORT", " "), Map.of()).server().port())
        .isEqualTo(23456);
  }

  @Test
  void theStateIsUnderTheRuntimeRootUnlessSaidOtherwise() throws BadSettingsException {
    assertThat(ServerConfiguration.read(Map.of("BBS_RUNTIME_ROOT", "/r"), Map.of()).ledger())
        .isEqualTo(LedgerConfig.at(Path.of("/r/state")));
  }

  @Test
  void allMistakesAreReportedTogetherEachWithNameValueAndWhatIsAllowed() {
    Map<String, String> environment =
        new HashMap<>(Map.of("BBS_PORT", "99999", "BBS_LEDGER_SYNC", "sometimes"));
    environment.put("BBS_BACKEND_TIMEOUT", "soon");

    BadSettingsException bad =
        catchThrowableOfType(
            BadSettingsException.class,
            () -> ServerConfiguration.read(environment, Map.of(Setting.MAX_TURNS, "0")));

    assertThat(bad.problems())
        .containsExactlyInAnyOrder(
            "BBS_PORT is \"99999\", but must be a whole number from 0 to 65535.",
            "BBS_LEDGER_SYNC is \"sometimes\", but must be one of power, process.",
            "BBS_BACKEND_TIMEOUT is \"soon\", but must be a number of seconds from 0.001 to"
                + " 1000000000.",
            "--max-turns is \"0\", but must be a whole number from 1 to 2147483647.");
  }

  @ParameterizedTest
  @CsvSource({
    "BBS_PORT, -1",
    "BBS_PORT, 1.5",
    "BBS_PORT, 0x10",
    "BBS_PORT, 99999999999999999999",
    "BBS_BACKEND_TIMEOUT, 0",
    "BBS_BACKEND_TIMEOUT, -3",
    "BBS_BACKEND_TIMEOUT, NaN",
    "BBS_BACKEND_TIMEOUT, Infinity",
    "BBS_BACKEND_TIMEOUT, 1e10",
    "BBS_BACKEND_TIMEOUT, 5d",
    "BBS_BACKEND_TIMEOUT, 1.2.3",
    "BBS_HOST, a b",
    "BBS_LOG_LEVEL, INFO",
    "BBS_SCRIPT_AGENT, /no/such/program",
    "BBS_PROMPT_ROOTS, /p::/q",
    "BBS_API_TOKEN_FILE, /no/such/file",
    "BBS_API_TOKEN_FILE, /dev/zero",
  })
  void whatCannotBeMeantIsRefused(String variable, String value) {
    BadSettingsException bad =
        catchThrowableOfType(
            BadSettingsException.class,
            () -> ServerConfiguration.read(Map.of(variable, value), Map.of()));

    assertThat(bad.problems()).singleElement().asString().startsWith(variable + " is \"" + value);
  }

  @Test
  void theTokenMayComeFromAFile() throws Exception {
    Path file = Files.writeString(directory.resolve("token"), "s3cret-token\n");
    Map<String, String> environment = Map.of("BBS_API_TOKEN_FILE", file.toString());
    AccessRules access = ServerConfiguration.read(environment, Map.of()).http().access();
    assertThat(access.token().orElseThrow().matches("s3cret-token")).isTrue();
    assertThat(access.toString()).doesNotContain("s3cret");

    Files.writeString(file, " \n");
    assertThatThrownBy(() -> ServerConfiguration.read(environment, Map.of()))
        .hasMessageContaining("nothing but the token");
  }

  @Test
  void theTokenIsNeverShownAndNeverAnOption() throws Exception {
    Path file = Files.writeString(directory.resolve("token"), "s3cret with blanks");
    for (Map<String, String> bad :
        List.of(
            Map.of("BBS_API_TOKEN", "s3cret with blanks"),
            Map.of("BBS_API_TOKEN_FILE", file.toString()),
            Map.of("BBS_API_TOKEN", "s3cret", "BBS_API_TOKEN_FILE", file.toString()))) {
      assertThatThrownBy(() -> ServerConfiguration.read(bad, Map.of()))
          .isInstanceOf(BadSettingsException.class)
          .message()
          .doesNotContain("s3cret");
    }
    assertThat(ServerConfiguration.read(Map.of(), Map.of(Setting.API_TOKEN, "s3cret")).http())
        .isEqualTo(HttpConfig.DEFAULTS);
  }

  @Test
  void aHugeOrUnprintableValueIsNotRepeatedWhole() {
    BadSettingsException bad =
        catchThrowableOfType(
            BadSettingsException.class,
            () ->
                ServerConfiguration.read(
                    Map.of("BBS_PORT", "\u001b[31m" + "9".repeat(10_000)), Map.of()));

    assertThat(bad.problems()).singleElement().asString().hasSizeLessThan(300).contains("?[31m9");
  }

  @Test
  void boundsThatDependOnEachOtherAreCheckedTogether() {
    BadSettingsException bad =
        catchThrowableOfType(
            BadSettingsException.class,
            () ->
                ServerConfiguration.read(
                    Map.of("BBS_MAX_BODY_BYTES", "200000000", "BBS_HTTP_LONG_POLLS_MAX", "512"),
                    Map.of()));

    assertThat(bad.problems())
        .containsExactly(
            "BBS_MAX_BODY_BYTES is \"200000000\", but must be at most BBS_HTTP_BODIES_BYTES_MAX,"
                + " which is \"134217728\".",
            "BBS_HTTP_LONG_POLLS_MAX is \"512\", but must be below BBS_HTTP_REQUESTS_MAX, which is"
                + " \"512\".");
  }

  @Test
  void aVariableThatIsNoSettingIsNamed() throws BadSettingsException {
    ServerConfiguration read =
        ServerConfiguration.read(
            Map.of("BBS_LEDGER_SNYC", "power", "BBS_JAVA_OPTS", "", "HOME", "/"), Map.of());

    assertThat(read.unknownVariables()).containsExactly("BBS_LEDGER_SNYC");
  }

  private static Map<String, String> everyVariable(Path agent) {
    Map<String, String> all = new HashMap<>(everyVariableOfTheProxy());
    all.putAll(everyOtherVariable(agent));
    return all;
  }

  private static Map<String, String> everyOtherVariable(Path agent) {
    return Map.ofEntries(
        Map.entry("BBS_HOST", "::1"),
        Map.entry("BBS_PORT", "0"),
        Map.entry("BBS_API_TOKEN", "s3cret-token"),
        Map.entry("BBS_ALLOWED_HOSTS", "slot-1, 10.0.0.5,"),
        Map.entry("BBS_ALLOWED_ORIGINS", "http://a:1"),
        Map.entry("BBS_PROMPT_ROOTS", "/p:/q/x/../r"),
        Map.entry("BBS_RUNTIME_ROOT", "/r"),
        Map.entry("BBS_STATE_DIR", "/s/../t"),
        Map.entry("BBS_MAX_SESSIONS", "2"),
        Map.entry("BBS_MAX_TURNS", "3"),
        Map.entry("BBS_BACKEND_TIMEOUT", "4.5"),
        Map.entry("BBS_EXECUTE_CMD_TIMEOUT", "5.5"),
        Map.entry("BBS_ROUTER_TIMEOUT", "6"),
        Map.entry("BBS_SHUTDOWN_TIMEOUT", "7"),
        Map.entry("BBS_HEALTH_CHECK_INTERVAL", "0.8"),
        Map.entry("BBS_HEALTH_CHECK_TIMEOUT", "9"),
        Map.entry("BBS_RUNTIME_HEALTH_CHECK_INTERVAL", "1e1"),
        Map.entry("BBS_RUNTIME_HEALTH_CHECK_RETRIES", "11"),
        Map.entry("BBS_RUNTIME_HEALTH_CHECK_RETRY_DELAY", "0"),
        Map.entry("BBS_MAX_BODY_BYTES", "4096"),
        Map.entry("BBS_HTTP_BODIES_BYTES_MAX", "4097"),
        Map.entry("BBS_HTTP_HEADER_BYTES_MAX", "4098"),
        Map.entry("BBS_HTTP_CONNECTIONS_MAX", "32"),
        Map.entry("BBS_HTTP_REQUESTS_MAX", "31"),
        Map.entry("BBS_HTTP_LONG_POLLS_MAX", "30"),
        Map.entry("BBS_HTTP_PAGE_TURNS_MAX", "26"),
        Map.entry("BBS_HTTP_REQUEST_READ_TIMEOUT", "29"),
        Map.entry("BBS_HTTP_ANSWER_WRITE_TIMEOUT", "28"),
        Map.entry("BBS_HTTP_IDLE_TIMEOUT", "27"),
        Map.entry("BBS_LEDGER_SYNC", "process"),
        Map.entry("BBS_LEDGER_QUEUE_MAX", "18"),
        Map.entry("BBS_LEDGER_CHECKPOINT_BYTES", "4294967296"),
        Map.entry("BBS_LEDGER_CHECKPOINT_SECONDS", "1.25"),
        Map.entry("BBS_LEDGER_READ_CONNECTIONS", "19"),
        Map.entry("BBS_LEDGER_RECENT_READS_BYTES_MAX", "1919"),
        Map.entry("BBS_LEDGER_MAX_BYTES", "1000000"),
        Map.entry("BBS_LEDGER_RETENTION_SECONDS", "86400"),
        Map.entry("BBS_SCRIPT_AGENT", agent.toString()),
        Map.entry("BBS_LOG_LEVEL", "debug"));
  }

  private static Map<String, String> everyVariableOfTheProxy() {
    return Map.ofEntries(
        Map.entry("BBS_PROXY_PORT", "20"),
        Map.entry("BBS_PROXY_BODY_BYTES_MAX", "2048"),
        Map.entry("BBS_PROXY_RESPONSE_BYTES_MAX", "2049"),
        Map.entry("BBS_PROXY_CONCURRENT_CALLS_MAX", "21"),
        Map.entry("BBS_PROXY_CONNECT_TIMEOUT", "22"),
        Map.entry("BBS_PROXY_FIRST_BYTE_TIMEOUT", "23"),
        Map.entry("BBS_PROXY_IDLE_TIMEOUT", "0.5"),
        Map.entry("BBS_PROXY_TOTAL_TIMEOUT", "24"),
        Map.entry("BBS_PROXY_KEEPALIVE_AFTER", "25"),
        Map.entry("BBS_PROXY_KEEPALIVE_INTERVAL", "26"),
        Map.entry("BBS_PROXY_RETRIES_MAX", "27"),
        Map.entry("BBS_PROXY_RETRY_DELAY", "28"),
        Map.entry("BBS_PROXY_RETRY_DELAY_MAX", "29"),
        Map.entry("BBS_PROXY_AGENT_RETRIES_MAX", "30"),
        Map.entry("BBS_PROXY_REPLAY_BYTES_MAX", "1000000000"),
        Map.entry("BBS_PROXY_TOOL_CALL_BYTES_MAX", "2050"),
        Map.entry("BBS_CAPTURE", "errors"),
        Map.entry("BBS_CAPTURE_MAX_BYTES", "1099511627776"),
        Map.entry("BBS_CAPTURE_BODY_BYTES_MAX", "2051"),
        Map.entry("BBS_CAPTURE_MEMORY_BYTES_MAX", "4294967296"),
        Map.entry("BBS_CAPTURE_DISK_FREE_BYTES_MIN", "4099"));
  }

  private Path program() throws IOException {
    Path agent = Files.writeString(directory.resolve("agent"), "#!/bin/sh\n");
    assertThat(agent.toFile().setExecutable(true)).isTrue();
    return agent;
  }
}
