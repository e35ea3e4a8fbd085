-- For each authority, the last anchor that it stamped before a moment: a dossier contains it if an earlier time-stamp has
-- expired. One entry an anchor.
CREATE INDEX CONCURRENTLY "stamp_of_anchor_by_authority" ON "stamp" ("authority", "gen_time") WHERE "kind" = 'anchor' AND "authority" IS NOT NULL;
