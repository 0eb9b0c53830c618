package dev.blackbox.config;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Everything that can be set, in the order in which it is shown. The environment, {@code serve
 * --help} and the table in {@code docs/operations.md} all come from here; the defaults are in
 * {@code config/defaults.properties}. The environment variable is {@code BBS_} and the constant's
 * name, the option is the same in lower case with hyphens; a secret has no option.
 */
public enum Setting {
  HOST(new Kind.Text(), "Address to listen on"),
  PORT(whole(0, 65_535), "Port to listen on; 0: any free one"),

  API_TOKEN(
      new Kind.Hidden(4096),
      "Token that requests must bear; empty: none, and only this machine is served"),
  API_TOKEN_FILE(new Kind.OptionalPath(), "File that has the token, instead of the variable"),
  ALLOWED_HOSTS(
      new Kind.Names("names or addresses"),
      "Without a token: what a Host header may say beside this server's own addresses; *: any"),
  ALLOWED_ORIGINS(
      new Kind.Names("origins like http://name:port"),
      "Without a token: web pages that may use the server; *: any"),

  RUNTIME_ROOT(new Kind.Directory(), "Directory under which every agent gets its own"),
  STATE_DIR(
      new Kind.OptionalPath(), "Directory of the ledger; empty: \"state\" under the runtime root"),

  PROMPT_ROOTS(
      new Kind.Paths(),
      "Directories that a system_prompt_file must lie under, links followed; empty: anywhere"),

  MAX_SESSIONS(whole(1, 1_000), "Sessions kept at once"),
  MAX_TURNS(whole(1, Integer.MAX_VALUE), "Committed turns that a session may have"),
  BACKEND_TIMEOUT(seconds(0.001), "Seconds that a turn may take, pauses not counted"),
  EXECUTE_CMD_TIMEOUT(
      seconds(0.001), "Seconds that a shell command may take if its caller gives no limit"),
  ROUTER_TIMEOUT(
      whole(1, Integer.MAX_VALUE), "Milliseconds that an agent should wait for one model call"),
  SHUTDOWN_TIMEOUT(seconds(0), "Seconds that an orderly end may take"),
  HEALTH_CHECK_INTERVAL(
      seconds(0.01), "Seconds between two looks whether a starting agent is ready"),
  HEALTH_CHECK_TIMEOUT(seconds(0.1), "Seconds that an agent may take to become ready"),
  RUNTIME_HEALTH_CHECK_INTERVAL(seconds(0.01), "Seconds between two looks at a running agent"),
  RUNTIME_HEALTH_CHECK_RETRIES(whole(1, 1_000), "Failed looks in a row after which it is dead"),
  RUNTIME_HEALTH_CHECK_RETRY_DELAY(seconds(0), "Seconds between those looks"),

  MAX_BODY_BYTES(whole(1_024, 1L << 30), "Largest request body; beyond it 413"),
  HTTP_BODIES_BYTES_MAX(
      whole(1_024, 1L << 32), "Bytes of request bodies held at once; beyond it 503"),
  HTTP_HEADER_BYTES_MAX(
      whole(1_024, 1 << 20), "Largest request line, and largest block of headers"),
  HTTP_CONNECTIONS_MAX(
      whole(16, 100_000), "Open connections; keep it below the limit of open files"),
  HTTP_REQUESTS_MAX(
      whole(8, 100_000), "Requests in work at once, waiting ones included; beyond it 503"),
  HTTP_LONG_POLLS_MAX(whole(4, 100_000), "Of these, polls that wait for a turn; beyond it 503"),
  HTTP_PAGE_TURNS_MAX(
      whole(1, 1_000_000), "Turns that one answer about a session tells of; more: next_offset"),
  HTTP_REQUEST_READ_TIMEOUT(
      seconds(0.1), "Seconds from the first sign of a request to its last byte"),
  HTTP_ANSWER_WRITE_TIMEOUT(seconds(0.1), "Seconds for handing one piece of an answer to a client"),
  HTTP_IDLE_TIMEOUT(seconds(0.1), "Seconds that a connection may be open without a request"),

  LEDGER_SYNC(
      choice("power", "process"),
      "What an acknowledged fact survives: \"power\" a power cut, \"process\" kill -9 only"),
  LEDGER_QUEUE_MAX(
      whole(16, 1_000_000), "Facts that may wait for the ledger's writer; beyond it 503"),
  LEDGER_CHECKPOINT_BYTES(
      whole(65_536, 1L << 32), "Journal bytes after which the database is forced to disk"),
  LEDGER_CHECKPOINT_SECONDS(
      seconds(0.1), "Seconds after which it is forced if anything was written"),
  LEDGER_READ_CONNECTIONS(whole(1, 64), "Database connections for reads"),
  LEDGER_RECENT_READS_BYTES_MAX(
      whole(0, 1L << 32), "Memory for sessions and turns that were read lately; 0: none"),
  LEDGER_MAX_BYTES(
      whole(0, 1L << 50),
      "Bytes on disk near which the oldest settled sessions are trimmed; 0: none is"),
  LEDGER_RETENTION_SECONDS(
      seconds(0), "Seconds after its last change that a session is trimmed; 0: never"),

  PROXY_PORT(whole(0, 65_535), "Port of the model proxy on 127.0.0.1; 0: any free one"),
  PROXY_BODY_BYTES_MAX(whole(1_024, 1L << 30), "Largest request body of an agent; beyond it 413"),
  PROXY_RESPONSE_BYTES_MAX(
      whole(1_024, 1L << 30), "Largest plain answer of an engine; beyond it 502"),
  PROXY_CONCURRENT_CALLS_MAX(whole(1, 100_000), "Model calls at once; beyond it 503"),
  PROXY_CONNECT_TIMEOUT(seconds(0.001), "Seconds for reaching the engine"),
  PROXY_FIRST_BYTE_TIMEOUT(
      seconds(0.001), "Seconds from a model call to the first byte of its answer"),
  PROXY_IDLE_TIMEOUT(seconds(0.001), "Seconds between two bytes of a model's answer"),
  PROXY_TOTAL_TIMEOUT(
      seconds(0.001), "Seconds from a model call to the last byte of its answer, retries included"),
  PROXY_KEEPALIVE_AFTER(
      seconds(0.001),
      "Seconds of silence after which a streamed answer is begun and kept alive; errors after that"
          + " have no status"),
  PROXY_KEEPALIVE_INTERVAL(
      seconds(0.001), "Seconds of silence in a begun answer after which the agent gets a sign"),
  PROXY_RETRIES_MAX(
      whole(0, 100),
      "Further attempts after a failed connection to the engine, a 429 or a 5xx, before an answer"
          + " has begun"),
  PROXY_RETRY_DELAY(seconds(0), "Seconds before the first of these; doubles each time"),
  PROXY_RETRY_DELAY_MAX(
      seconds(0), "Longest of these delays; an engine that asks for more is not asked again"),
  PROXY_AGENT_RETRIES_MAX(
      whole(0, 1_000), "Times that an agent may send one call again without a further step"),
  PROXY_REPLAY_BYTES_MAX(
      whole(0, 1L << 30), "Memory of a turn for answers that its agent may ask for again; 0: none"),
  PROXY_TOOL_CALL_BYTES_MAX(
      whole(1_024, 1L << 30),
      "Bytes of an answer's events with tool calls, held until it is whole; beyond it broken off"),

  CAPTURE(
      choice("off", "errors", "all"),
      "Model calls whose bodies are kept, under \"captures\" in the state directory"),
  CAPTURE_MAX_BYTES(
      whole(65_536, 1L << 40), "Disk for kept bodies; the oldest are deleted to make room"),
  CAPTURE_BODY_BYTES_MAX(
      whole(1_024, 1L << 30), "Bytes kept of one request, and of one answer; the rest is cut off"),
  CAPTURE_MEMORY_BYTES_MAX(
      whole(65_536, 1L << 32),
      "Memory for bodies of running calls and ones to be written; beyond it bodies are dropped"),
  CAPTURE_DISK_FREE_BYTES_MIN(
      whole(0, 1L << 40),
      "Bytes that kept bodies leave free on the disk; the oldest are deleted for that, too"),

  SCRIPT_AGENT(
      new Kind.OptionalPath(),
      "Program of your own that becomes the agent of blackbox_type \"script\"; empty: none"),
  LOG_LEVEL(
      choice("error", "warning", "info", "debug", "trace"),
      "How much is logged, on standard error");

  /** Longest time that can be set, in seconds: about 31 years, for those who want no limit. */
  static final double SECONDS_MAX = 1e9;

  @SuppressWarnings("ImmutableEnumChecker") // records, made here and never handed a list to change
  private final Kind kind;

  private final String meaning;

  Setting(Kind kind, String meaning) {
    this.kind = kind;
    this.meaning = meaning;
  }

  private static Kind whole(long min, long max) {
    return new Kind.Whole(min, max);
  }

  private static Kind seconds(double min) {
    return new Kind.Seconds(min, SECONDS_MAX);
  }

  private static Kind choice(String... values) {
    return new Kind.Choice(List.of(values));
  }

  /** {@code BBS_LEDGER_SYNC}. */
  public String variable() {
    return "BBS_" + name();
  }

  /**
   * {@code ledger-sync}: its name in {@code config/defaults.properties} and, with {@code --}, as
   * option.
   */
  public String key() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** {@code --ledger-sync}. */
  public String option() {
    return "--" + key();
  }

  /** Whether the command line may have it. */
  public boolean isOption() {
    return !(kind instanceof Kind.Hidden);
  }

  /** One phrase for people. */
  public String meaning() {
    return meaning;
  }

  /** What it may be. */
  public Kind kind() {
    return kind;
  }

  /** The setting of an environment variable. */
  static Optional<Setting> ofVariable(String variable) {
    return Arrays.stream(values())
        .filter(setting -> setting.variable().equals(variable))
        .findFirst();
  }
}
