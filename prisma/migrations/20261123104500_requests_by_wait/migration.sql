-- The longest wait by member state and class: of direct requests, and of lines that are not dispatched yet. The other requests
-- of a member state are few, and "request_in_window" finds them.
CREATE INDEX CONCURRENTLY "request_by_wait" ON "request" ("country_code", "origin", "state", "due_at")
  WHERE "state" IN ('waiting', 'pending') AND "answer" IS NULL AND NOT "test" AND ("origin" = 'direct' OR NOT "fed");
