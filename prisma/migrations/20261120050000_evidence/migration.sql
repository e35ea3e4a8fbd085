-- AlterTable
ALTER TABLE "account" ADD COLUMN     "erased_at" TIMESTAMPTZ(3);

-- CreateTable
CREATE TABLE "anchor" (
    "id" UUID NOT NULL,
    "seq" INTEGER NOT NULL,
    "closed_at" TIMESTAMPTZ(3) NOT NULL,
    "tree_size" INTEGER NOT NULL,
    "root" BYTEA NOT NULL,
    "prev_anchor_hash" BYTEA NOT NULL,
    "body" BYTEA NOT NULL,
    "hash" BYTEA NOT NULL,

    CONSTRAINT "anchor_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "anchor_leaf" (
    "check_id" UUID NOT NULL,
    "hash" BYTEA NOT NULL,
    "anchor_seq" INTEGER,
    "leaf_index" INTEGER,

    CONSTRAINT "anchor_leaf_pkey" PRIMARY KEY ("check_id")
);

-- CreateTable
CREATE TABLE "anchor_node" (
    "anchor_seq" INTEGER NOT NULL,
    "level" INTEGER NOT NULL,
    "place" INTEGER NOT NULL,
    "hashes" BYTEA NOT NULL,

    CONSTRAINT "anchor_node_pkey" PRIMARY KEY ("anchor_seq","level","place")
);

-- CreateTable
CREATE TABLE "stamp" (
    "subject_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "account_id" UUID,
    "digest" BYTEA NOT NULL,
    "requested_at" TIMESTAMPTZ(3) NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3),
    "last_error" TEXT,
    "token" BYTEA,
    "gen_time" TIMESTAMPTZ(3),
    "accuracy_ms" INTEGER,
    "serial" TEXT,
    "policy" TEXT,
    "authority" TEXT,
    "development" BOOLEAN,

    CONSTRAINT "stamp_pkey" PRIMARY KEY ("subject_id")
);

-- CreateTable
CREATE TABLE "development_authority" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "certificate" TEXT NOT NULL,
    "root" TEXT NOT NULL,
    "key_sealed" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "development_authority_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "anchor_seq_key" ON "anchor"("seq");

-- What Prisma's schema language has no words for.

ALTER TABLE "anchor" ADD CONSTRAINT "anchor_hashes_are_sha256" CHECK (octet_length("root") = 32 AND octet_length("prev_anchor_hash") = 32 AND octet_length("hash") = 32);
ALTER TABLE "anchor" ADD CONSTRAINT "anchor_is_of_something" CHECK ("seq" >= 1 AND "tree_size" >= 1);
ALTER TABLE "anchor_leaf" ADD CONSTRAINT "anchor_leaf_hash_is_sha256" CHECK (octet_length("hash") = 32);
ALTER TABLE "anchor_leaf" ADD CONSTRAINT "anchor_leaf_has_a_place_once_anchored" CHECK (("anchor_seq" IS NULL) = ("leaf_index" IS NULL));
ALTER TABLE "stamp" ADD CONSTRAINT "stamp_kind" CHECK ("kind" IN ('check', 'anchor') AND ("kind" = 'check') = ("account_id" IS NOT NULL));
ALTER TABLE "stamp" ADD CONSTRAINT "stamp_is_pending_or_there" CHECK (("next_attempt_at" IS NULL) = ("token" IS NOT NULL) AND ("token" IS NULL) = ("gen_time" IS NULL));
ALTER TABLE "development_authority" ADD CONSTRAINT "development_authority_is_one" CHECK ("id" = 1);

-- What the next anchor takes, in its order; empty once it has closed.
CREATE INDEX "anchor_leaf_unanchored" ON "anchor_leaf" ("check_id") WHERE "anchor_seq" IS NULL;
-- A tree in the order of its leaves; a place belongs to one leaf.
CREATE UNIQUE INDEX "anchor_leaf_place" ON "anchor_leaf" ("anchor_seq", "leaf_index") WHERE "anchor_seq" IS NOT NULL;
-- Stamps still to be had, by the time of their next try.
CREATE INDEX "stamp_pending_by_due" ON "stamp" ("next_attempt_at", "subject_id") WHERE "token" IS NULL;
-- What was tried for an account and never became a check: a few rows, since an answered request leaves it.
CREATE INDEX "request_without_check" ON "request" ("account_id", "id") WHERE "check_id" IS NULL;
CREATE INDEX "stamp_of_account" ON "stamp" ("account_id") WHERE "account_id" IS NOT NULL;

-- Live checks recorded before there were anchors are in the first one.
INSERT INTO "anchor_leaf" ("check_id", "hash") SELECT "id", "hash" FROM "check" WHERE NOT "test";
