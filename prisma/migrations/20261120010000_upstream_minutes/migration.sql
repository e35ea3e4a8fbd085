-- CreateTable
CREATE TABLE "upstream_minute" (
    "member_state" TEXT NOT NULL,
    "minute" TIMESTAMPTZ(3) NOT NULL,
    "ended" TEXT NOT NULL,
    "asks" INTEGER NOT NULL,
    "buckets" INTEGER[],

    CONSTRAINT "upstream_minute_pkey" PRIMARY KEY ("member_state","minute","ended")
);

-- CreateIndex
CREATE INDEX "upstream_minute_minute_idx" ON "upstream_minute"("minute");
