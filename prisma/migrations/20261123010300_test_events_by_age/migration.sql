-- The expiry of test events.
CREATE INDEX CONCURRENTLY "event_test_by_age" ON "event" ("id") WHERE "type" = 'webhook.test';
