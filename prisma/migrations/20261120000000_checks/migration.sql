-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateTable
CREATE TABLE "account" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "plan" TEXT NOT NULL,
    "monthly_quota" INTEGER,
    "disabled_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "account_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "app_user" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "email" TEXT NOT NULL,
    "password_hash" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "app_user_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_key" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "test" BOOLEAN NOT NULL,
    "hash" BYTEA NOT NULL,
    "hint" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "usage" (
    "account_id" UUID NOT NULL,
    "period" TEXT NOT NULL,
    "used" INTEGER NOT NULL DEFAULT 0,
    "reserved" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "usage_pkey" PRIMARY KEY ("account_id","period")
);

-- CreateTable
CREATE TABLE "usage_entry" (
    "check_id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "period" TEXT NOT NULL,
    "consumed_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "usage_entry_pkey" PRIMARY KEY ("check_id")
);

-- CreateTable
CREATE TABLE "request" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "test" BOOLEAN NOT NULL,
    "state" TEXT NOT NULL,
    "input" TEXT NOT NULL,
    "country_code" TEXT NOT NULL,
    "national" TEXT NOT NULL,
    "vat_number" TEXT NOT NULL,
    "requester" TEXT,
    "reference" TEXT,
    "trader" JSONB,
    "entries" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "window_ends_at" TIMESTAMPTZ(3) NOT NULL,
    "accepted_at" TIMESTAMPTZ(3),
    "give_up_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "asking_since" TIMESTAMPTZ(3),
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "window_retries" INTEGER NOT NULL DEFAULT 0,
    "background_retries" INTEGER NOT NULL DEFAULT 0,
    "last_error" TEXT,
    "reason" TEXT,
    "unconfirmed" JSONB,
    "unconfirmed_at" TIMESTAMPTZ(3),
    "requester_dropped" BOOLEAN NOT NULL DEFAULT false,
    "answer" JSONB,
    "quota_period" TEXT,
    "check_id" UUID,

    CONSTRAINT "request_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "exchange" (
    "id" UUID NOT NULL,
    "request_id" UUID NOT NULL,
    "source" TEXT NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "duration_ms" INTEGER NOT NULL,
    "method" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "request_headers" JSONB NOT NULL,
    "request_body" BYTEA NOT NULL,
    "request_sha256" BYTEA NOT NULL,
    "status" INTEGER,
    "response_headers" JSONB,
    "response_body" BYTEA,
    "response_sha256" BYTEA,
    "complete" BOOLEAN NOT NULL,
    "error" TEXT,

    CONSTRAINT "exchange_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "check" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "request_id" UUID NOT NULL,
    "test" BOOLEAN NOT NULL,
    "vat_number" TEXT NOT NULL,
    "valid" BOOLEAN NOT NULL,
    "reference" TEXT,
    "checked_at" TIMESTAMPTZ(3) NOT NULL,
    "body" BYTEA NOT NULL,
    "hash" BYTEA NOT NULL,

    CONSTRAINT "check_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook" (
    "account_id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "secret_sealed" BYTEA NOT NULL,
    "secret_prefix" TEXT NOT NULL,
    "configured_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_pkey" PRIMARY KEY ("account_id")
);

-- CreateTable
CREATE TABLE "event" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "subject_id" UUID NOT NULL,
    "body" TEXT NOT NULL,
    "test" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "event_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "delivery" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "event_id" UUID NOT NULL,
    "state" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "next_attempt_at" TIMESTAMPTZ(3),

    CONSTRAINT "delivery_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotency_key" (
    "account_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "fingerprint" BYTEA NOT NULL,
    "request_id" UUID,
    "status" INTEGER,
    "headers" JSONB,
    "body" BYTEA,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "locked_until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_key_pkey" PRIMARY KEY ("account_id","key")
);

-- CreateIndex
CREATE UNIQUE INDEX "app_user_email_key" ON "app_user"("email");

-- CreateIndex
CREATE INDEX "app_user_account_id_idx" ON "app_user"("account_id");

-- CreateIndex
CREATE UNIQUE INDEX "api_key_hash_key" ON "api_key"("hash");

-- CreateIndex
CREATE INDEX "api_key_account_id_idx" ON "api_key"("account_id");

-- CreateIndex
CREATE INDEX "usage_entry_account_id_period_idx" ON "usage_entry"("account_id", "period");

-- CreateIndex
CREATE INDEX "exchange_request_id_idx" ON "exchange"("request_id");

-- CreateIndex
CREATE UNIQUE INDEX "check_request_id_key" ON "check"("request_id");

-- CreateIndex
CREATE INDEX "check_account_id_id_idx" ON "check"("account_id", "id" DESC);

-- CreateIndex
CREATE INDEX "check_account_id_vat_number_id_idx" ON "check"("account_id", "vat_number", "id" DESC);

-- CreateIndex
CREATE INDEX "check_account_id_reference_id_idx" ON "check"("account_id", "reference", "id" DESC);

-- CreateIndex
CREATE INDEX "event_account_id_id_idx" ON "event"("account_id", "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "event_type_subject_id_key" ON "event"("type", "subject_id");

-- CreateIndex
CREATE INDEX "delivery_account_id_id_idx" ON "delivery"("account_id", "id" DESC);

-- CreateIndex
CREATE INDEX "delivery_event_id_idx" ON "delivery"("event_id");

-- CreateIndex
CREATE INDEX "idempotency_key_request_id_idx" ON "idempotency_key"("request_id");

-- CreateIndex
CREATE INDEX "idempotency_key_created_at_idx" ON "idempotency_key"("created_at");

-- AddForeignKey
ALTER TABLE "app_user" ADD CONSTRAINT "app_user_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "usage" ADD CONSTRAINT "usage_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook" ADD CONSTRAINT "webhook_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;



-- What Prisma's schema language has no words for.

ALTER TABLE "account" ADD CONSTRAINT "account_quota_not_negative" CHECK ("monthly_quota" IS NULL OR "monthly_quota" >= 0);
-- The promise of the quota, held by the database: no path can reserve below zero.
ALTER TABLE "usage" ADD CONSTRAINT "usage_not_negative" CHECK ("used" >= 0 AND "reserved" >= 0);
ALTER TABLE "request" ADD CONSTRAINT "request_state" CHECK ("state" IN ('waiting', 'pending', 'completed', 'abandoned', 'withdrawn'));
ALTER TABLE "request" ADD CONSTRAINT "request_completed_has_check" CHECK (("state" = 'completed') = ("check_id" IS NOT NULL));
ALTER TABLE "check" ADD CONSTRAINT "check_hash_is_sha256" CHECK (octet_length("hash") = 32);
ALTER TABLE "delivery" ADD CONSTRAINT "delivery_state" CHECK ("state" IN ('pending', 'successful', 'failed'));

-- The pending count of an account, read under its lock: 200 rows at most.
CREATE INDEX "request_pending_of_account" ON "request" ("account_id") WHERE "state" = 'pending';
-- The sweep: live requests by the time their next step is due. Ended requests cost it nothing.
CREATE INDEX "request_live_by_due" ON "request" ("due_at", "id") WHERE "state" IN ('waiting', 'pending');
-- Requests past their end, however far in the future their next step is.
CREATE INDEX "request_live_by_give_up" ON "request" ("give_up_at") WHERE "state" = 'pending';
-- Deliveries still under way, by the time of their next attempt.
CREATE INDEX "delivery_pending_by_due" ON "delivery" ("next_attempt_at", "id") WHERE "state" = 'pending';

-- Rows of these tables are updated a few times and then rest: leave room for updates in place.
ALTER TABLE "request" SET (fillfactor = 70);
ALTER TABLE "usage" SET (fillfactor = 50);
