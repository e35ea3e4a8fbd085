-- Reads each table once. Statements of the service run meanwhile.
ALTER TABLE "request" VALIDATE CONSTRAINT "partition_bound";
ALTER TABLE "exchange" VALIDATE CONSTRAINT "partition_bound";
ALTER TABLE "check" VALIDATE CONSTRAINT "partition_bound";
ALTER TABLE "event" VALIDATE CONSTRAINT "partition_bound";
ALTER TABLE "delivery" VALIDATE CONSTRAINT "partition_bound";
ALTER TABLE "delivery_attempt" VALIDATE CONSTRAINT "partition_bound";
ALTER TABLE "anchor_leaf" VALIDATE CONSTRAINT "partition_bound";
ALTER TABLE "usage_entry" VALIDATE CONSTRAINT "partition_bound";
