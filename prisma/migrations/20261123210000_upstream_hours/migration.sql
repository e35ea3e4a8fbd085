-- CreateTable
CREATE TABLE "upstream_hour" (
    "member_state" TEXT NOT NULL,
    "hour" TIMESTAMPTZ(3) NOT NULL,
    "answered" INTEGER NOT NULL,
    "saturated" INTEGER NOT NULL,
    "unavailable" INTEGER NOT NULL,
    "buckets" INTEGER[],

    CONSTRAINT "upstream_hour_pkey" PRIMARY KEY ("hour","member_state")
);
