-- AlterTable
ALTER TABLE "request" ADD COLUMN     "fed" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN     "origin" TEXT NOT NULL DEFAULT 'direct';

-- CreateTable
CREATE TABLE "batch" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "state" TEXT NOT NULL,
    "label" TEXT,
    "file_name" TEXT,
    "requester" TEXT,
    "header" JSONB,
    "total" INTEGER NOT NULL,
    "done" INTEGER NOT NULL DEFAULT 0,
    "failed" INTEGER NOT NULL DEFAULT 0,
    "valid" INTEGER NOT NULL DEFAULT 0,
    "invalid" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),

    CONSTRAINT "batch_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "batch_line" (
    "id" UUID NOT NULL,
    "batch_id" UUID NOT NULL,
    "line" INTEGER NOT NULL,
    "status" TEXT NOT NULL,
    "input" TEXT NOT NULL,
    "vat_number" TEXT,
    "reference" TEXT,
    "request_id" UUID,
    "check_id" UUID,
    "valid" BOOLEAN,
    "error_code" TEXT,
    "error_message" TEXT,
    "cells" JSONB NOT NULL,

    CONSTRAINT "batch_line_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "watch" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "vat_number" TEXT NOT NULL,
    "country_code" TEXT NOT NULL,
    "national" TEXT NOT NULL,
    "input" TEXT NOT NULL,
    "label" TEXT,
    "requester" TEXT,
    "frequency" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "next_check_at" TIMESTAMPTZ(3) NOT NULL,
    "request_id" UUID,
    "last_check_id" UUID,
    "last_checked_at" TIMESTAMPTZ(3),
    "last_valid" BOOLEAN,
    "last_valid_check_id" UUID,
    "last_name" TEXT,
    "last_address" TEXT,

    CONSTRAINT "watch_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "watch_change" (
    "id" UUID NOT NULL,
    "watch_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "before" JSONB,
    "after" JSONB,
    "check_id" UUID NOT NULL,
    "changed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "watch_change_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "batch_account_id_id_idx" ON "batch"("account_id", "id" DESC);

-- CreateIndex
CREATE INDEX "batch_line_batch_id_id_idx" ON "batch_line"("batch_id", "id");

-- CreateIndex
CREATE INDEX "batch_line_batch_id_status_id_idx" ON "batch_line"("batch_id", "status", "id");

-- CreateIndex
CREATE INDEX "watch_account_id_id_idx" ON "watch"("account_id", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "watch_account_id_vat_number_key" ON "watch"("account_id", "vat_number");

-- CreateIndex
CREATE INDEX "watch_change_watch_id_id_idx" ON "watch_change"("watch_id", "id" DESC);

-- AddForeignKey
ALTER TABLE "batch_line" ADD CONSTRAINT "batch_line_batch_id_fkey" FOREIGN KEY ("batch_id") REFERENCES "batch"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "watch_change" ADD CONSTRAINT "watch_change_watch_id_fkey" FOREIGN KEY ("watch_id") REFERENCES "watch"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What Prisma's schema language has no words for.

ALTER TABLE "request" ADD CONSTRAINT "request_origin" CHECK ("origin" IN ('direct', 'batch', 'watch'));
ALTER TABLE "batch" ADD CONSTRAINT "batch_state" CHECK ("state" IN ('queued', 'running', 'completed'));
ALTER TABLE "batch" ADD CONSTRAINT "batch_completed_counts_all" CHECK ("state" <> 'completed' OR ("done" + "failed" = "total" AND "valid" + "invalid" = "done" AND "completed_at" IS NOT NULL));
ALTER TABLE "batch_line" ADD CONSTRAINT "batch_line_status" CHECK (("status" = 'done') = ("check_id" IS NOT NULL) AND ("status" = 'failed') = ("error_code" IS NOT NULL) AND "status" IN ('queued', 'done', 'failed'));
ALTER TABLE "watch" ADD CONSTRAINT "watch_state" CHECK ("state" IN ('active', 'paused'));
ALTER TABLE "watch" ADD CONSTRAINT "watch_frequency" CHECK ("frequency" IN ('weekly', 'daily'));
ALTER TABLE "watch_change" ADD CONSTRAINT "watch_change_kind" CHECK ("kind" IN ('validity', 'name', 'address'));

-- TOO_MANY_PENDING counts these: 200 an account at most, however large its batches are.
CREATE INDEX "request_pending_direct" ON "request" ("account_id") WHERE "state" = 'pending' AND "origin" = 'direct';
-- Of an account that is disabled. Without the lines that wait outside Redis: Postgres would take it for feeding them, too.
DROP INDEX "request_pending_of_account";
CREATE INDEX "request_pending_of_account" ON "request" ("account_id") WHERE "state" = 'pending' AND "fed";
-- The sweep looks for requests without a job; those kept out of Redis have none on purpose.
DROP INDEX "request_live_by_due";
CREATE INDEX "request_live_by_due" ON "request" ("due_at", "id") WHERE "state" IN ('waiting', 'pending') AND "fed";
-- Feeding: what waits outside Redis by member state, account and due time, and how much of each is inside. Malformed
-- numbers wait for no member state.
CREATE INDEX "request_unfed" ON "request" ("country_code", "account_id", "due_at", "id") WHERE "state" = 'pending' AND NOT "fed" AND "answer" IS NULL;
CREATE INDEX "request_unfed_malformed" ON "request" ("account_id", "id") WHERE "state" = 'pending' AND NOT "fed" AND "answer" IS NOT NULL;
CREATE INDEX "request_in_window" ON "request" ("origin", "country_code", "account_id") WHERE "state" = 'pending' AND "fed" AND "origin" <> 'direct';
-- The end of a request ends its lines; a batch is found by what is still queued.
CREATE INDEX "batch_line_of_request" ON "batch_line" ("request_id") WHERE "request_id" IS NOT NULL;
CREATE INDEX "batch_live_of_account" ON "batch" ("account_id") WHERE "state" <> 'completed';
CREATE INDEX "batch_live" ON "batch" ("id") WHERE "state" <> 'completed';
CREATE INDEX "batch_completed_by_age" ON "batch" ("completed_at") WHERE "state" = 'completed';
-- Due watches cost the same however many are not due, and however many of another member state wait for its outage to end.
CREATE INDEX "watch_due" ON "watch" ("country_code", "next_check_at", "id") WHERE "state" = 'active' AND "request_id" IS NULL;
CREATE INDEX "watch_of_request" ON "watch" ("request_id") WHERE "request_id" IS NOT NULL;

-- Rows that are updated once or a few times: leave room for updates in place.
ALTER TABLE "batch_line" SET (fillfactor = 80);
ALTER TABLE "watch" SET (fillfactor = 70);
