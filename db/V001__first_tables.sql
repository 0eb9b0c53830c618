-- The facts applied (docs/ledger.md). Written by one thread, from facts only.
-- DDL commits by itself in H2, so every statement may run twice.
-- Generated columns named open_* and active_* are null once a row is settled: unique ones refuse a
-- second open row, and all of them find the open rows without reading the others.
-- The last statement of each migration says which version the tables have now.

CREATE TABLE IF NOT EXISTS boot (
  boot BIGINT PRIMARY KEY,
  ledger_id VARCHAR(36) NOT NULL,
  server_version VARCHAR NOT NULL,
  pid BIGINT NOT NULL,
  machine_boot_id VARCHAR NOT NULL,
  started_at TIMESTAMP(6) WITH TIME ZONE NOT NULL,
  ended_at TIMESTAMP(6) WITH TIME ZONE
);

CREATE TABLE IF NOT EXISTS config (
  config_hash VARCHAR(128) PRIMARY KEY,
  content VARCHAR NOT NULL,
  first_seen_at TIMESTAMP(6) WITH TIME ZONE NOT NULL
);

CREATE TABLE IF NOT EXISTS binding (
  binding_key BIGINT PRIMARY KEY,
  runtime_id VARCHAR NOT NULL,
  boot BIGINT NOT NULL REFERENCES boot,
  backend_type VARCHAR NOT NULL,
  fingerprint VARCHAR NOT NULL,
  config_hash VARCHAR(128) NOT NULL REFERENCES config,
  parameters_json VARCHAR NOT NULL,
  view_json VARCHAR NOT NULL,
  session_key BIGINT NOT NULL,
  session_id VARCHAR(128) NOT NULL,
  instance_id VARCHAR(128) NOT NULL,
  proxy_port INT NOT NULL,
  system_prompt_file VARCHAR,
  system_prompt_text VARCHAR,
  state VARCHAR(16) NOT NULL,
  state_reason VARCHAR NOT NULL,
  paused BOOLEAN NOT NULL,
  pause_reason VARCHAR NOT NULL,
  model_version VARCHAR,
  opened_at TIMESTAMP(6) WITH TIME ZONE NOT NULL,
  closed_at TIMESTAMP(6) WITH TIME ZONE,
  close_reason VARCHAR,
  open_slot INT GENERATED ALWAYS AS (CASE WHEN closed_at IS NULL THEN 1 END)
);
CREATE UNIQUE INDEX IF NOT EXISTS one_open_binding ON binding (open_slot);

CREATE TABLE IF NOT EXISTS session (
  session_key BIGINT PRIMARY KEY,
  session_id VARCHAR(128) NOT NULL,
  instance_id VARCHAR(128) NOT NULL,
  binding_key BIGINT NOT NULL REFERENCES binding,
  opening_binding_key BIGINT NOT NULL REFERENCES binding,
  runtime_id VARCHAR NOT NULL,
  backend_type VARCHAR NOT NULL,
  state VARCHAR(16) NOT NULL CHECK (state IN ('active', 'desynced', 'aborted')),
  desync_reason VARCHAR,
  abort_reason VARCHAR,
  backend_session_id VARCHAR,
  generated_turn_id VARCHAR(128),
  explicit_turn_ids BOOLEAN NOT NULL,
  turn_count INT NOT NULL,
  committed_turns INT NOT NULL,
  latest_turn_id VARCHAR(128),
  created_at TIMESTAMP(6) WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP(6) WITH TIME ZONE NOT NULL
);
CREATE INDEX IF NOT EXISTS session_by_name ON session (session_id, session_key);

-- No foreign key to session: H2 would keep a second index for it, and a turn is never inserted
-- without an update of its session.
CREATE TABLE IF NOT EXISTS turn (
  session_key BIGINT NOT NULL,
  turn_id VARCHAR(128) NOT NULL,
  turn_number INT NOT NULL,
  state VARCHAR(16) NOT NULL
    CHECK (state IN ('queued', 'inflight', 'committed', 'failed', 'cancelled', 'unknown')),
  fingerprint VARCHAR NOT NULL,
  request VARCHAR NOT NULL,
  metadata VARCHAR NOT NULL,
  cancel_requested BOOLEAN NOT NULL,
  queued_by_boot BIGINT NOT NULL,
  started_by_boot BIGINT,
  session_state VARCHAR(16),
  error_code VARCHAR(64),
  error_message VARCHAR,
  error_details VARCHAR,
  outputs VARCHAR,
  trace VARCHAR,
  total_tokens BIGINT,
  input_tokens BIGINT,
  output_tokens BIGINT,
  reasoning_tokens BIGINT,
  steps BIGINT,
  tool_calls BIGINT,
  backend_session_id VARCHAR,
  created_at TIMESTAMP(6) WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP(6) WITH TIME ZONE NOT NULL,
  active_session_key BIGINT
    GENERATED ALWAYS AS (CASE WHEN state IN ('queued', 'inflight') THEN session_key END),
  PRIMARY KEY (session_key, turn_id)
);
CREATE UNIQUE INDEX IF NOT EXISTS turns_in_order ON turn (session_key, turn_number);
CREATE UNIQUE INDEX IF NOT EXISTS one_active_turn ON turn (active_session_key);

CREATE TABLE IF NOT EXISTS model_call (
  call_id VARCHAR PRIMARY KEY,
  session_key BIGINT NOT NULL,
  turn_id VARCHAR(128) NOT NULL,
  step INT NOT NULL,
  dialect VARCHAR NOT NULL,
  stream BOOLEAN NOT NULL,
  model VARCHAR NOT NULL,
  request_bytes BIGINT NOT NULL,
  arrived_at TIMESTAMP(6) WITH TIME ZONE NOT NULL,
  first_byte_at TIMESTAMP(6) WITH TIME ZONE,
  ended_at TIMESTAMP(6) WITH TIME ZONE,
  status INT,
  verdict VARCHAR,
  response_bytes BIGINT,
  prompt_tokens BIGINT,
  completion_tokens BIGINT,
  reasoning_tokens BIGINT,
  cached_tokens BIGINT,
  tool_calls INT,
  finish_reason VARCHAR,
  error VARCHAR,
  open_call INT GENERATED ALWAYS AS (CASE WHEN ended_at IS NULL THEN 1 END),
  -- Its index finds the calls of a turn, too.
  FOREIGN KEY (session_key, turn_id) REFERENCES turn
);
CREATE INDEX IF NOT EXISTS model_call_open ON model_call (open_call);

CREATE TABLE IF NOT EXISTS command (
  command_number BIGINT PRIMARY KEY,
  session_key BIGINT NOT NULL REFERENCES session,
  command_id VARCHAR,
  command VARCHAR NOT NULL,
  timeout_seconds DOUBLE PRECISION NOT NULL,
  started_by_boot BIGINT NOT NULL,
  started_at TIMESTAMP(6) WITH TIME ZONE NOT NULL,
  ended_at TIMESTAMP(6) WITH TIME ZONE,
  return_code INT,
  timed_out BOOLEAN,
  result VARCHAR,
  interrupted BOOLEAN NOT NULL,
  open_command INT GENERATED ALWAYS AS (CASE WHEN ended_at IS NULL THEN 1 END)
);
CREATE INDEX IF NOT EXISTS command_open ON command (open_command);

CREATE TABLE IF NOT EXISTS process (
  pid BIGINT NOT NULL,
  start_ticks BIGINT NOT NULL,
  machine_boot_id VARCHAR NOT NULL,
  boot BIGINT NOT NULL REFERENCES boot,
  kind VARCHAR NOT NULL,
  started_at TIMESTAMP(6) WITH TIME ZONE NOT NULL,
  ended_at TIMESTAMP(6) WITH TIME ZONE,
  exit_code INT,
  open_boot BIGINT GENERATED ALWAYS AS (CASE WHEN ended_at IS NULL THEN boot END),
  PRIMARY KEY (pid, start_ticks, machine_boot_id)
);
CREATE INDEX IF NOT EXISTS process_open ON process (open_boot);

-- The hash chain: hash = SHA-256(hash before, sequence as 8 bytes, head in UTF-8).
CREATE TABLE IF NOT EXISTS event (
  sequence BIGINT PRIMARY KEY,
  at TIMESTAMP(6) WITH TIME ZONE NOT NULL,
  type VARCHAR(64) NOT NULL,
  session_key BIGINT,
  turn_id VARCHAR(128),
  head VARCHAR NOT NULL,
  hash BINARY(32) NOT NULL
);

CREATE TABLE IF NOT EXISTS ledger_schema (
  version INT PRIMARY KEY
);
MERGE INTO ledger_schema (version) VALUES (1);
