-- The mail of an invitation becomes a row of "mail" with the invitation's id, whose user is the owner who invites. No release has
-- used the columns that go.
SET LOCAL lock_timeout = '3s';

ALTER TABLE "invitation" DROP COLUMN "mail_due_at", DROP COLUMN "mail_attempts";



-- What Prisma's schema language has no words for.

-- A user has at most one notification of a kind on its way, however many processes create mail.
DROP INDEX "mail_pending_of_user";
CREATE UNIQUE INDEX "mail_pending_of_user" ON "mail" ("user_id", "kind") WHERE "state" = 'pending' AND "kind" <> 'invitation';
