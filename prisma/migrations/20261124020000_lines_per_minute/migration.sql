-- How many requests of batches ended in a minute, for the time at which a batch will be completed. The release before does not
-- write it.
ALTER TABLE "upstream_minute" ADD COLUMN "lines" INTEGER NOT NULL DEFAULT 0;
