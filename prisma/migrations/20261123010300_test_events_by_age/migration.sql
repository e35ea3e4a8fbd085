-- The expiry of test events.
CREATE INDEX CONCURRENTLY "event_test_by_age" ON "event" ("created_at") WHERE "type" = 'webhook.test';
