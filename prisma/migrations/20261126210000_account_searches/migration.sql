-- CreateTable
CREATE TABLE "account_search" (
    "source" TEXT NOT NULL,
    "account_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "requested" INTEGER NOT NULL,
    "used" INTEGER NOT NULL,
    "requested_before" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "account_search_pkey" PRIMARY KEY ("source","account_id")
);
