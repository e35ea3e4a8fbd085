-- CreateTable
CREATE TABLE "public_link_key" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "key_sealed" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "public_link_key_pkey" PRIMARY KEY ("id")
);

-- What Prisma's schema language has no words for.

ALTER TABLE "public_link_key" ADD CONSTRAINT "public_link_key_is_one" CHECK ("id" = 1);
