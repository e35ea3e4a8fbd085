-- The accounts that have reached a share of their quota are looked for in the month, not account by account. An update of the counters
-- does not touch the index.
SET LOCAL lock_timeout = '3s';
CREATE INDEX "usage_of_month" ON "usage" ("period") WHERE "mailed_percent" < 100;
