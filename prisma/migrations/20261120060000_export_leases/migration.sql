-- CreateTable
CREATE TABLE "export_lease" (
    "account_id" UUID NOT NULL,
    "holder" UUID NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "export_lease_pkey" PRIMARY KEY ("account_id")
);

-- CreateIndex
CREATE INDEX "check_account_id_checked_at_idx" ON "check"("account_id", "checked_at");
