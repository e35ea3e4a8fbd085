-- The indexes of the partitions. While one is built, only statements wait that insert or delete an event in its partition; a check
-- that was answered 201 does neither.
SET LOCAL lock_timeout = '3s';
DO $$
DECLARE
  index record;
  part record;
BEGIN
  FOR index IN
    SELECT * FROM (VALUES ('account_id_test_type_id_idx', '"account_id", "test", "type", "id"'),
      ('account_id_test_type_position_id_idx', '"account_id", "test", "type", "position", "id"')) AS t("name", "columns")
  LOOP
    FOR part IN
      SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE i.inhparent = '"event"'::regclass AND NOT EXISTS (
        SELECT FROM pg_index x JOIN pg_inherits p ON p.inhrelid = x.indexrelid
        WHERE x.indrelid = c.oid AND p.inhparent = format('%I', 'event_' || index.name)::regclass)
    LOOP
      EXECUTE format('CREATE INDEX %I ON partitions.%I (%s)', part.name || '_' || index.name, part.name, index.columns);
      EXECUTE format('ALTER INDEX %I ATTACH PARTITION partitions.%I', 'event_' || index.name, part.name || '_' || index.name);
    END LOOP;
  END LOOP;
END
$$;
