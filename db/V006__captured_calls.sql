-- Model calls: whether their bodies were to be kept.
-- Every statement may run twice, as in the first migration.

ALTER TABLE model_call ADD COLUMN IF NOT EXISTS capture VARCHAR(16);

MERGE INTO ledger_schema (version) VALUES (6);
