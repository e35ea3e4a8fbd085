-- The first of six steps that partition the tables which grow without end by month of their time-ordered ids. The tables are
-- not rewritten: each becomes the first partition of a new table of its name, up to a bound one to two months ahead. This step
-- adds the bound as a constraint that applies to new rows only, the next one validates it while the service runs.
-- Every lock is short. Where a lock is not granted in time nothing has changed, and the migration is tried again.
SET LOCAL lock_timeout = '3s';

DO $$
DECLARE
  bound_at CONSTANT timestamp := date_trunc('month', now() AT TIME ZONE 'UTC') + interval '2 months';
  hex CONSTANT text := lpad(to_hex((extract(epoch FROM bound_at) * 1000)::bigint), 12, '0');
  bound CONSTANT uuid := (substr(hex, 1, 8) || '-' || substr(hex, 9, 4) || '-7000-8000-000000000000')::uuid;
  part record;
  beyond boolean;
BEGIN
  FOR part IN
    SELECT * FROM (VALUES ('request', 'id'), ('exchange', 'request_id'), ('check', 'id'), ('event', 'id'), ('delivery', 'id'),
      ('delivery_attempt', 'delivery_id'), ('anchor_leaf', 'check_id'), ('usage_entry', 'check_id')) AS t("name", "key")
  LOOP
    EXECUTE format('SELECT EXISTS (SELECT 1 FROM %I WHERE %I >= %L)', part.name, part.key, bound) INTO beyond;
    IF beyond THEN
      RAISE EXCEPTION 'the table % has rows whose % is not time-ordered or lies after %: delete them or give them an id of their creation time', part.name, part.key, bound_at;
    END IF;
    EXECUTE format('ALTER TABLE %I ADD CONSTRAINT partition_bound CHECK (%I < %L) NOT VALID', part.name, part.key, bound);
  END LOOP;
END
$$;
