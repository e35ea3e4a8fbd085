-- Lists of deliveries with any filter, in the order of ids: first of the partition that has nearly all rows, while the service
-- runs. One statement, since CONCURRENTLY needs that.
CREATE INDEX CONCURRENTLY "delivery_initial_by_state" ON "partitions"."delivery_initial" ("account_id", "test", "state", "event_type", "id" DESC);
