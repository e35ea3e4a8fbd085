-- Of the table. The index of the first partition becomes part of it; those of the other partitions, which have hardly any row
-- yet, are made here.
SET LOCAL lock_timeout = '3s';
CREATE INDEX "delivery_by_state" ON "delivery" ("account_id", "test", "state", "event_type", "id" DESC);
