-- Lists of checks with any filter, in the order of ids. One statement in each of these migrations, since CONCURRENTLY, with
-- which the service goes on recording checks, needs that.
CREATE INDEX CONCURRENTLY "check_by_verdict" ON "check" ("account_id", "test", "valid", "id" DESC);
