-- The time until a request is given up runs from its first lookup. One that was not looked up yet has seven days. The release
-- before reads the same column, and only waits longer.
UPDATE "request" SET "give_up_at" = "created_at" + interval '7 days'
WHERE "state" = 'pending' AND "attempts" = 0 AND "asking_since" IS NULL AND NOT "test" AND "give_up_at" IS NOT NULL;
