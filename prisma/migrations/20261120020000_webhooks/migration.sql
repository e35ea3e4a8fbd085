-- AlterTable
ALTER TABLE "webhook" ADD COLUMN     "generation" UUID NOT NULL DEFAULT gen_random_uuid();

-- AlterTable
ALTER TABLE "delivery" ADD COLUMN     "generation" UUID,
ADD COLUMN     "last_attempt_at" TIMESTAMPTZ(3),
ADD COLUMN     "last_duration_ms" INTEGER,
ADD COLUMN     "last_error" TEXT,
ADD COLUMN     "last_status_code" INTEGER,
ADD COLUMN     "leased_until" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "delivery_attempt" (
    "delivery_id" UUID NOT NULL,
    "number" INTEGER NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "url" TEXT NOT NULL,
    "status_code" INTEGER,
    "duration_ms" INTEGER NOT NULL,
    "error" TEXT,
    "address" TEXT,
    "timings" JSONB NOT NULL,
    "answer" BYTEA NOT NULL,
    "answer_truncated" BOOLEAN NOT NULL,

    CONSTRAINT "delivery_attempt_pkey" PRIMARY KEY ("delivery_id","number")
);

-- AddForeignKey
ALTER TABLE "delivery_attempt" ADD CONSTRAINT "delivery_attempt_delivery_id_fkey" FOREIGN KEY ("delivery_id") REFERENCES "delivery"("id") ON DELETE CASCADE ON UPDATE CASCADE;



-- Deliveries from before this migration belong to the endpoint that is there now.
UPDATE "delivery" d SET "generation" = w."generation" FROM "webhook" w WHERE w."account_id" = d."account_id";

-- What Prisma's schema language has no words for.

ALTER TABLE "delivery" ADD CONSTRAINT "delivery_pending_is_due" CHECK (("state" = 'pending') = ("next_attempt_at" IS NOT NULL));
ALTER TABLE "delivery_attempt" ADD CONSTRAINT "delivery_attempt_answer_is_short" CHECK (octet_length("answer") <= 2048);
-- What a removed endpoint ends.
CREATE INDEX "delivery_pending_of_account" ON "delivery" ("account_id") WHERE "state" = 'pending';
-- The retention of the log.
CREATE INDEX "delivery_ended_by_age" ON "delivery" ("created_at") WHERE "state" <> 'pending';
-- A row is updated twice an attempt and then rests: leave room for updates in place.
ALTER TABLE "delivery" SET (fillfactor = 70);
