-- The pending requests of an account are counted without one of them. With the id, Postgres reads this index alone; without, it
-- reads all pending requests instead when one account has most of the rows.
CREATE INDEX CONCURRENTLY "request_pending_direct_by_id" ON "request" ("account_id", "id") WHERE "state" = 'pending' AND "origin" = 'direct';
