-- AlterTable
ALTER TABLE "watch" ADD COLUMN "missed_since" TIMESTAMPTZ(3);
