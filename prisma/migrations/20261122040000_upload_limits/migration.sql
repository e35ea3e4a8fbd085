-- CreateTable
CREATE TABLE "batch_upload" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "lines" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "batch_upload_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "download_lease" (
    "account_id" UUID NOT NULL,
    "place" INTEGER NOT NULL,
    "holder" UUID NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "download_lease_pkey" PRIMARY KEY ("account_id","place")
);

-- CreateIndex
CREATE INDEX "batch_upload_account_id_created_at_idx" ON "batch_upload"("account_id", "created_at");

-- What was uploaded in the last day counts from the first minute on.
INSERT INTO "batch_upload" ("id", "account_id", "lines", "created_at")
SELECT "id", "account_id", "total", "created_at" FROM "batch" WHERE "created_at" > now() - interval '1 day';
