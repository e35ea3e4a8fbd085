-- The mail of an invitation becomes a row of "mail" with the invitation's id, whose user is the owner who invites. No release has
-- used the columns that go; what waits to be mailed on a development system is taken over.
SET LOCAL lock_timeout = '3s';

DROP INDEX "mail_pending_of_user";
INSERT INTO "mail" ("id", "user_id", "kind", "state", "item_count", "subject_ids", "created_at", "attempts", "next_attempt_at")
SELECT "id", "invited_by", 'invitation', 'pending', 1, ARRAY["id"], "created_at", "mail_attempts", "mail_due_at"
FROM "invitation" WHERE "mail_due_at" IS NOT NULL;

ALTER TABLE "invitation" DROP COLUMN "mail_due_at", DROP COLUMN "mail_attempts";



-- What Prisma's schema language has no words for.

-- A user has at most one notification of a kind on its way, however many processes create mail.
CREATE UNIQUE INDEX "mail_pending_of_user" ON "mail" ("user_id", "kind") WHERE "state" = 'pending' AND "kind" <> 'invitation';
