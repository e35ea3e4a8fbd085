CREATE INDEX CONCURRENTLY "check_by_number" ON "check" ("account_id", "vat_number", "test", "valid", "id" DESC);
