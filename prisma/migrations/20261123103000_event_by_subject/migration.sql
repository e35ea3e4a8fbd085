-- A unique index of a partitioned table must contain its key, so this one replaces "event_type_subject_id_key".
CREATE INDEX CONCURRENTLY "event_subject_id_idx" ON "event" ("subject_id");
