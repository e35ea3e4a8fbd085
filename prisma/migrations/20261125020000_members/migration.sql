-- AlterTable. Every earlier user was the only one of its account. The default stays for the older release, which names no role
-- when it creates an account.
ALTER TABLE "app_user" ADD COLUMN     "role" TEXT NOT NULL DEFAULT 'owner';

-- CreateTable
CREATE TABLE "invitation" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "invited_by" UUID NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "email" TEXT,
    "role" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "invitation_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "invitation_token_hash_key" ON "invitation"("token_hash");

-- CreateIndex
CREATE INDEX "invitation_account_id_id_idx" ON "invitation"("account_id", "id" DESC);

-- CreateIndex
CREATE INDEX "invitation_invited_by_idx" ON "invitation"("invited_by");

-- AddForeignKey
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_invited_by_fkey" FOREIGN KEY ("invited_by") REFERENCES "app_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;



-- What Prisma's schema language has no words for.

ALTER TABLE "app_user" ADD CONSTRAINT "app_user_role_is_known" CHECK ("role" IN ('owner', 'member', 'auditor'));
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_role_is_known" CHECK ("role" IN ('owner', 'member', 'auditor'));
-- A hash, never a token.
ALTER TABLE "invitation" ADD CONSTRAINT "invitation_token_is_sha256" CHECK (octet_length("token_hash") = 32);
