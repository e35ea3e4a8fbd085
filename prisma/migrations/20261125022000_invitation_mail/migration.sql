-- Invitations that are sent by e-mail. Those of the release before have a link alone.
SET LOCAL lock_timeout = '3s';

-- When the next attempt is due; null when the invitation is not to be sent, or was sent or given up.
ALTER TABLE "invitation" ADD COLUMN "mail_due_at" TIMESTAMPTZ(3);
ALTER TABLE "invitation" ADD COLUMN "mail_attempts" INTEGER NOT NULL DEFAULT 0;



-- What Prisma's schema language has no words for.

CREATE INDEX "invitation_mail_due" ON "invitation" ("mail_due_at", "id") WHERE "mail_due_at" IS NOT NULL;
