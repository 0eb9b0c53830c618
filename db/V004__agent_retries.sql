-- Model calls: which of them are an agent's own retries, and of what; whether tokens are estimated.
-- Every statement may run twice, as in the first migration.

ALTER TABLE model_call ADD COLUMN IF NOT EXISTS retry_of VARCHAR;
ALTER TABLE model_call ADD COLUMN IF NOT EXISTS retry_as VARCHAR;
ALTER TABLE model_call ADD COLUMN IF NOT EXISTS tokens_from VARCHAR;

MERGE INTO ledger_schema (version) VALUES (4);
