-- A unique index of a partitioned table must contain its key, so this one replaces "anchor_leaf_place".
CREATE INDEX CONCURRENTLY "anchor_leaf_by_place" ON "anchor_leaf" ("anchor_seq", "leaf_index") WHERE "anchor_seq" IS NOT NULL;
