-- AlterTable
ALTER TABLE "delivery" ADD COLUMN     "held" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "on_demand" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "test" BOOLEAN NOT NULL DEFAULT false;

-- Until its last process has stopped, the older release writes deliveries of test events as live ones: a test key then does
-- not see them, which is the harmless side.
UPDATE "delivery" d SET "test" = true FROM "event" e WHERE e."id" = d."event_id" AND e."test";

-- What Prisma's schema language has no words for.

-- The lists of a test key. Live rows cost them nothing.
CREATE INDEX "check_test_of_account" ON "check" ("account_id", "id" DESC) WHERE "test";
CREATE INDEX "delivery_test_of_account" ON "delivery" ("account_id", "id" DESC) WHERE "test";
-- Counted by every test event and resend, see TOO_MANY_DELIVERIES.
CREATE INDEX "delivery_on_demand_of_account" ON "delivery" ("account_id") WHERE "state" = 'pending' AND "on_demand";
-- What resumes when an account is enabled, oldest first.
CREATE INDEX "delivery_held_of_account" ON "delivery" ("account_id", "next_attempt_at", "id") WHERE "state" = 'pending' AND "held";
-- Held deliveries are overdue for as long as their account is disabled: no sweep may have to pass over them.
CREATE INDEX "delivery_due" ON "delivery" ("next_attempt_at", "id") WHERE "state" = 'pending' AND NOT "held";
-- The older release's sweep finds pending deliveries by delivery_pending_of_account.
DROP INDEX "delivery_pending_by_due";
