-- Model calls: what they were for, what the engine was sent and when, and how often.
-- Every statement may run twice, as in the first migration.

ALTER TABLE model_call ADD COLUMN IF NOT EXISTS purpose VARCHAR;
ALTER TABLE model_call ADD COLUMN IF NOT EXISTS retries INT;
ALTER TABLE model_call ADD COLUMN IF NOT EXISTS sent_at TIMESTAMP(6) WITH TIME ZONE;
ALTER TABLE model_call ADD COLUMN IF NOT EXISTS request_hash VARCHAR(64);
ALTER TABLE model_call ADD COLUMN IF NOT EXISTS response_hash VARCHAR(64);

MERGE INTO ledger_schema (version) VALUES (3);
