-- AlterTable
ALTER TABLE "usage" ADD COLUMN     "shortfall" INTEGER NOT NULL DEFAULT 0;
