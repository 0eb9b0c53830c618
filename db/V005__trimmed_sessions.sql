-- Sessions that were trimmed: what is left of them, and which events went with them.
-- Every statement may run twice, as in the first migration.

-- The content says of each turn what it was called and how it ended, and of the events that were
-- removed where the chain goes on. The journal has them too until erased_at.
CREATE TABLE IF NOT EXISTS trimmed (
  session_key BIGINT PRIMARY KEY,
  session_id VARCHAR(128) NOT NULL,
  instance_id VARCHAR(128) NOT NULL,
  state VARCHAR(16) NOT NULL,
  turns INT NOT NULL,
  reason VARCHAR(16) NOT NULL,
  content VARCHAR NOT NULL,
  trimmed_at TIMESTAMP(6) WITH TIME ZONE NOT NULL,
  erased_at TIMESTAMP(6) WITH TIME ZONE,
  to_erase INT GENERATED ALWAYS AS (CASE WHEN erased_at IS NULL THEN 1 END)
);
CREATE INDEX IF NOT EXISTS trimmed_by_name ON trimmed (session_id, session_key);
CREATE INDEX IF NOT EXISTS trimmed_to_erase ON trimmed (to_erase);

-- Events that are gone, as few ranges as possible; the hash is that of the last one in each.
CREATE TABLE IF NOT EXISTS gap (
  first_sequence BIGINT PRIMARY KEY,
  last_sequence BIGINT NOT NULL,
  hash BINARY(32) NOT NULL
);

MERGE INTO ledger_schema (version) VALUES (5);
