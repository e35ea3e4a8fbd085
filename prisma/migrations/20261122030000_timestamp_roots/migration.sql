-- CreateTable
CREATE TABLE "timestamp_root" (
    "tsa_url" TEXT NOT NULL,
    "certificate" TEXT NOT NULL,
    "pinned_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "timestamp_root_pkey" PRIMARY KEY ("tsa_url")
);
