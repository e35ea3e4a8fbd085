-- Of the deliveries so far, in parts that are committed one by one, so that no attempt waits long. When this is interrupted, it
-- can be run again. One statement, since COMMIT needs that. Rows are locked in the order of their ids, as everywhere.
DO $$
DECLARE
  last_id uuid := '00000000-0000-0000-0000-000000000000';
  ids uuid[];
BEGIN
  LOOP
    ids := ARRAY(SELECT "id" FROM "delivery" WHERE "id" > last_id ORDER BY "id" LIMIT 2000);
    EXIT WHEN cardinality(ids) = 0;
    last_id := ids[cardinality(ids)];
    PERFORM 1 FROM "delivery" WHERE "id" = ANY(ids) AND "event_type" IS NULL ORDER BY "id" FOR UPDATE;
    UPDATE "delivery" d SET "event_type" = (SELECT e."type" FROM "event" e WHERE e."id" = d."event_id")
      WHERE d."id" = ANY(ids) AND d."event_type" IS NULL;
    COMMIT;
  END LOOP;
END
$$;
