-- The later primary key of "exchange": its partitions are those of its request. One statement, since CONCURRENTLY needs that.
CREATE UNIQUE INDEX CONCURRENTLY "exchange_by_request" ON "exchange" ("request_id", "id");
