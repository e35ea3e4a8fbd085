-- The order of an account's events for those who follow them, see docs/decisions/0032. The trigger gives positions to the events
-- of the release before as well. Events from before this migration have position 0 and come first, in the order of their ids.
-- Nothing is read or rewritten.
SET LOCAL lock_timeout = '3s';

-- The newest event of each account. The row is updated for each event: leave room for updates in place.
CREATE TABLE "newest_event" (
    "account_id" UUID NOT NULL,
    "event_id" UUID NOT NULL,
    "position" BIGINT NOT NULL,

    CONSTRAINT "newest_event_pkey" PRIMARY KEY ("account_id")
) WITH (fillfactor = 50);

ALTER TABLE "event" ADD COLUMN "position" BIGINT NOT NULL DEFAULT 0;

-- The lock on the row of the account lasts until the end of the transaction, so that positions are in the order of commits.
CREATE FUNCTION "place_event"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "newest_event" AS n ("account_id", "event_id", "position") VALUES (NEW."account_id", NEW."id", 1)
  ON CONFLICT ("account_id") DO UPDATE SET "event_id" = EXCLUDED."event_id", "position" = n."position" + 1
  RETURNING n."position" INTO NEW."position";
  RETURN NEW;
END
$$;
-- A position that is given is not changed: rows that are copied.
CREATE TRIGGER "event_position" BEFORE INSERT ON "event" FOR EACH ROW WHEN (NEW."position" = 0) EXECUTE FUNCTION "place_event"();

-- Without the partitions, which the next migration indexes. One list by mode and type: newest first, and in the order of positions.
CREATE INDEX "event_account_id_test_type_id_idx" ON ONLY "event" ("account_id", "test", "type", "id");
CREATE INDEX "event_account_id_test_type_position_id_idx" ON ONLY "event" ("account_id", "test", "type", "position", "id");
