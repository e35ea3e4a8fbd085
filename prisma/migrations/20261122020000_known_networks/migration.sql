-- AlterTable
ALTER TABLE "app_user" ADD COLUMN     "known_networks" BYTEA[] DEFAULT ARRAY[]::BYTEA[];
