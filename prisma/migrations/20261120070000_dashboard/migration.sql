-- CreateTable
CREATE TABLE "check_day" (
    "account_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "valid" INTEGER NOT NULL DEFAULT 0,
    "invalid" INTEGER NOT NULL DEFAULT 0,
    "malformed" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "check_day_pkey" PRIMARY KEY ("account_id","day")
);

-- What was recorded before the counting began. A malformed number consumed no unit.
INSERT INTO "check_day" ("account_id", "day", "valid", "invalid", "malformed")
SELECT c."account_id", (c."checked_at" AT TIME ZONE 'UTC')::date, count(*) FILTER (WHERE c."valid"),
  count(*) FILTER (WHERE NOT c."valid" AND u."check_id" IS NOT NULL), count(*) FILTER (WHERE u."check_id" IS NULL)
FROM "check" c LEFT JOIN "usage_entry" u ON u."check_id" = c."id"
WHERE NOT c."test" GROUP BY 1, 2;

-- What Prisma's schema language has no words for.

-- One row is updated by every check of an account's day: room on its page keeps the updates off the index.
ALTER TABLE "check_day" SET (fillfactor = 50);
-- An account's latest changes, however many watches it has: each change has its event.
CREATE INDEX "event_watch_changed" ON "event" ("account_id", "id" DESC) WHERE "type" = 'watch.changed';
CREATE INDEX "delivery_failed_of_account" ON "delivery" ("account_id", "created_at") WHERE "state" = 'failed';
-- Requests that were answered 202, by how they stand. A direct check that is answered 201 costs it nothing.
CREATE INDEX "request_accepted" ON "request" ("account_id", "state", "id" DESC) WHERE "accepted_at" IS NOT NULL;
