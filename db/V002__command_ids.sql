-- Commands have names, may wait, and may end without a result.
-- Every statement may run twice, as in the first migration.

ALTER TABLE command ADD COLUMN IF NOT EXISTS fingerprint VARCHAR;
ALTER TABLE command ADD COLUMN IF NOT EXISTS queued_at TIMESTAMP(6) WITH TIME ZONE;
ALTER TABLE command ADD COLUMN IF NOT EXISTS queued_by_boot BIGINT;
ALTER TABLE command ADD COLUMN IF NOT EXISTS state VARCHAR(16)
  CHECK (state IN ('ended', 'failed', 'cancelled'));
ALTER TABLE command ADD COLUMN IF NOT EXISTS error VARCHAR;
ALTER TABLE command ADD COLUMN IF NOT EXISTS found_by_boot BIGINT;
-- A command that waits has not started.
ALTER TABLE command ALTER COLUMN started_at SET NULL;
ALTER TABLE command ALTER COLUMN started_by_boot SET NULL;
-- Commands of before have no name, and H2 takes any number of those.
CREATE UNIQUE INDEX IF NOT EXISTS command_by_name ON command (session_key, command_id);

MERGE INTO ledger_schema (version) VALUES (2);
