-- CreateTable
CREATE TABLE "source_search" (
    "source" TEXT NOT NULL,
    "day" DATE NOT NULL,
    "used" INTEGER NOT NULL,
    "blocked" BOOLEAN NOT NULL DEFAULT false,

    CONSTRAINT "source_search_pkey" PRIMARY KEY ("source")
);
