CREATE INDEX CONCURRENTLY "check_by_reference" ON "check" ("account_id", "reference", "test", "valid", "id" DESC) WHERE "reference" IS NOT NULL;
