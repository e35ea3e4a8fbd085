-- The type of the event, so that the list of deliveries can be filtered by it. It never changes.
SET LOCAL lock_timeout = '3s';
ALTER TABLE "delivery" ADD COLUMN "event_type" TEXT;

-- For the release before, which inserts deliveries without it. Others pay for the condition alone. A later release may drop it.
CREATE FUNCTION "set_event_type"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW."event_type" := (SELECT "type" FROM "event" WHERE "id" = NEW."event_id");
  RETURN NEW;
END
$$;
CREATE TRIGGER "delivery_event_type" BEFORE INSERT ON "delivery"
  FOR EACH ROW WHEN (NEW."event_type" IS NULL) EXECUTE FUNCTION "set_event_type"();
