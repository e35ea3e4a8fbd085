-- Each table becomes the first partition of a new table of its name. Nothing is read or rewritten: the validated constraint
-- proves the bound, and the indexes exist. The locks are taken first, so that statements wait once and for milliseconds. The
-- statements of the release before see the same names, columns and ids.
SET LOCAL lock_timeout = '3s';
CREATE SCHEMA IF NOT EXISTS "partitions";
LOCK TABLE "request", "exchange", "check", "event", "delivery", "delivery_attempt", "anchor_leaf", "usage_entry" IN ACCESS EXCLUSIVE MODE;

-- The range of the check ids of an anchor's leaves, so that a proof reads the partitions of that time alone. Null in anchors of
-- the release before.
ALTER TABLE "anchor" ADD COLUMN "first_leaf" UUID, ADD COLUMN "last_leaf" UUID;

-- Replaced by a trigger, since dropping a partition would verify each of its rows against a foreign key.
ALTER TABLE "delivery_attempt" DROP CONSTRAINT "delivery_attempt_delivery_id_fkey";
-- Uniqueness without the partition key. The statements that insert these rows guarantee it: see docs/decisions/0022.
DROP INDEX "check_request_id_key";
DROP INDEX "event_type_subject_id_key";
DROP INDEX "anchor_leaf_place";
ALTER INDEX "anchor_leaf_by_place" RENAME TO "anchor_leaf_place";
DROP INDEX "exchange_request_id_idx";
ALTER TABLE "exchange" DROP CONSTRAINT "exchange_pkey";
ALTER TABLE "exchange" ADD CONSTRAINT "exchange_pkey" PRIMARY KEY USING INDEX "exchange_by_request";

DO $$
DECLARE
  part record;
  index record;
  definitions text[];
  definition text;
  bound uuid;
  next_bound uuid;
  bound_at timestamp;
  hex text;
BEGIN
  FOR part IN
    SELECT * FROM (VALUES ('request', 'id', 70), ('exchange', 'request_id', 100), ('check', 'id', 100), ('event', 'id', 100),
      ('delivery', 'id', 70), ('delivery_attempt', 'delivery_id', 100), ('anchor_leaf', 'check_id', 100),
      ('usage_entry', 'check_id', 100)) AS t("name", "key", "fillfactor")
  LOOP
    SELECT substring(pg_get_constraintdef(oid) FROM '''([0-9a-f-]{36})''')::uuid INTO STRICT bound FROM pg_constraint
      WHERE conrelid = quote_ident(part.name)::regclass AND conname = 'partition_bound';
    bound_at := to_timestamp(('x' || lpad(substr(replace(bound::text, '-', ''), 1, 12), 16, '0'))::bit(64)::bigint / 1000) AT TIME ZONE 'UTC';
    hex := lpad(to_hex((extract(epoch FROM bound_at + interval '1 month') * 1000)::bigint), 12, '0');
    next_bound := (substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-7000-8000-000000000000')::uuid;

    definitions := '{}';
    FOR index IN
      SELECT CASE WHEN k.oid IS NULL THEN pg_get_indexdef(i.indexrelid)
        ELSE format('ALTER TABLE %I ADD CONSTRAINT %I %s', part.name, k.conname, pg_get_constraintdef(k.oid)) END AS definition
      FROM pg_index i LEFT JOIN pg_constraint k ON k.conindid = i.indexrelid AND k.conrelid = i.indrelid
      WHERE i.indrelid = quote_ident(part.name)::regclass
    LOOP
      definitions := definitions || index.definition;
    END LOOP;

    -- The partitions are in a schema of their own. The indexes and their names go there too.
    EXECUTE format('ALTER TABLE %I SET SCHEMA partitions', part.name);
    EXECUTE format('ALTER TABLE partitions.%I RENAME TO %I', part.name, part.name || '_initial');
    EXECUTE format('CREATE TABLE %I (LIKE partitions.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE) PARTITION BY RANGE (%I)',
      part.name, part.name || '_initial', part.key);
    EXECUTE format('ALTER TABLE %I DROP CONSTRAINT partition_bound', part.name);
    FOREACH definition IN ARRAY definitions LOOP
      EXECUTE definition;
    END LOOP;
    EXECUTE format('ALTER TABLE %I ATTACH PARTITION partitions.%I FOR VALUES FROM (MINVALUE) TO (%L)', part.name, part.name || '_initial', bound);
    EXECUTE format('ALTER TABLE partitions.%I DROP CONSTRAINT partition_bound', part.name || '_initial');
    EXECUTE format('CREATE TABLE partitions.%I PARTITION OF %I FOR VALUES FROM (%L) TO (%L) WITH (fillfactor = %s)',
      part.name || to_char(bound_at, '_YYYY_MM'), part.name, bound, next_bound, part.fillfactor);
    EXECUTE format('CREATE TABLE partitions.%I PARTITION OF %I FOR VALUES FROM (%L) TO (MAXVALUE) WITH (fillfactor = %s)',
      part.name || '_future', part.name, next_bound, part.fillfactor);
  END LOOP;
END
$$;

-- The attempts of a delivery are deleted with it.
CREATE FUNCTION "delete_attempts"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "delivery_attempt" WHERE "delivery_id" = ANY (ARRAY(SELECT "id" FROM "gone"));
  RETURN NULL;
END
$$;
CREATE TRIGGER "delivery_attempts_follow" AFTER DELETE ON "delivery" REFERENCING OLD TABLE AS "gone"
  FOR EACH STATEMENT EXECUTE FUNCTION "delete_attempts"();
