-- CreateTable
CREATE TABLE "coverage" (
    "id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "label" TEXT,
    "file_name" TEXT,
    "header" JSONB,
    "max_age_days" INTEGER NOT NULL,
    "min_grade" TEXT NOT NULL,
    "width" INTEGER NOT NULL,
    "total" INTEGER NOT NULL,
    "covered" INTEGER NOT NULL,
    "stale" INTEGER NOT NULL,
    "weak" INTEGER NOT NULL,
    "invalid" INTEGER NOT NULL,
    "missing" INTEGER NOT NULL,
    "batch_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "coverage_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "coverage_line" (
    "id" UUID NOT NULL,
    "coverage_id" UUID NOT NULL,
    "line" INTEGER NOT NULL,
    "status" TEXT NOT NULL,
    "input" TEXT NOT NULL,
    "vat_number" TEXT,
    "supply_date" DATE NOT NULL,
    "reference" TEXT,
    "check_id" UUID,
    "checked_at" TIMESTAMPTZ(3),
    "evidence_grade" TEXT,
    "error_code" TEXT,
    "error_message" TEXT,
    "cells" JSONB NOT NULL,

    CONSTRAINT "coverage_line_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "coverage_account_id_id_idx" ON "coverage"("account_id", "id" DESC);

-- CreateIndex
CREATE INDEX "coverage_line_coverage_id_id_idx" ON "coverage_line"("coverage_id", "id");

-- CreateIndex
CREATE INDEX "coverage_line_coverage_id_status_id_idx" ON "coverage_line"("coverage_id", "status", "id");

-- AddForeignKey
ALTER TABLE "coverage_line" ADD CONSTRAINT "coverage_line_coverage_id_fkey" FOREIGN KEY ("coverage_id") REFERENCES "coverage"("id") ON DELETE CASCADE ON UPDATE CASCADE;
