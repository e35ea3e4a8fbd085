-- E-mail about what happens in an account, see docs/decisions/0034. What happens is written down by triggers, in the transaction in
-- which it happens, so the release before takes part. Nothing is read or rewritten.
SET LOCAL lock_timeout = '3s';

-- The kinds of mail that a user gets.
ALTER TABLE "app_user" ADD COLUMN "mail_kinds" TEXT[] NOT NULL DEFAULT '{failed_deliveries,quota}';

-- The highest share of the quota, in percent, that mail of this month is about.
ALTER TABLE "usage" ADD COLUMN "mailed_percent" INTEGER NOT NULL DEFAULT 0;

-- What happened and is in no mail yet. Deleted when it is, or after a day.
CREATE TABLE "mail_item" (
    "user_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "subject_id" UUID NOT NULL,
    "happened_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "mail_item_pkey" PRIMARY KEY ("user_id", "kind", "subject_id")
);
CREATE INDEX "mail_item_happened_at_idx" ON "mail_item" ("happened_at");
ALTER TABLE "mail_item" ADD CONSTRAINT "mail_item_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

CREATE TABLE "mail" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "item_count" INTEGER NOT NULL,
    "subject_ids" UUID[] NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3),
    "ended_at" TIMESTAMPTZ(3),
    "last_error" TEXT,

    CONSTRAINT "mail_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "mail_user_id_kind_created_at_idx" ON "mail" ("user_id", "kind", "created_at" DESC);
CREATE INDEX "mail_created_at_idx" ON "mail" ("created_at");
ALTER TABLE "mail" ADD CONSTRAINT "mail_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "app_user"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What Prisma's schema language has no words for.

ALTER TABLE "mail" ADD CONSTRAINT "mail_pending_is_due" CHECK (("state" = 'pending') = ("next_attempt_at" IS NOT NULL));
-- A user has at most one mail of a kind on its way, however many processes create mail.
CREATE UNIQUE INDEX "mail_pending_of_user" ON "mail" ("user_id", "kind") WHERE "state" = 'pending';
CREATE INDEX "mail_due" ON "mail" ("next_attempt_at", "id") WHERE "state" = 'pending';

-- Writes down that something happened, for each user of the account who wants mail of the kind. The subject of an event is a batch
-- or a change of a watch.
CREATE FUNCTION "note_for_mail"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  subject uuid;
BEGIN
  IF TG_ARGV[0] = 'failed_deliveries' THEN subject := NEW."id"; ELSE subject := NEW."subject_id"; END IF;
  INSERT INTO "mail_item" ("user_id", "kind", "subject_id", "happened_at")
  SELECT u."id", TG_ARGV[0], subject, now() FROM "app_user" u
  WHERE u."account_id" = NEW."account_id" AND TG_ARGV[0] = ANY (u."mail_kinds")
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
CREATE TRIGGER "completed_batch_mail" AFTER INSERT ON "event" FOR EACH ROW
  WHEN (NEW."type" = 'batch.completed' AND NOT NEW."test") EXECUTE FUNCTION "note_for_mail"('completed_batches');
CREATE TRIGGER "watch_change_mail" AFTER INSERT ON "event" FOR EACH ROW
  WHEN (NEW."type" = 'watch.changed' AND NOT NEW."test") EXECUTE FUNCTION "note_for_mail"('watch_changes');
-- Neither those that ended because the user removed the endpoint, nor test events, whose delivery the user looks at.
CREATE TRIGGER "failed_delivery_mail" AFTER UPDATE OF "state" ON "delivery" FOR EACH ROW
  WHEN (OLD."state" = 'pending' AND NEW."state" = 'failed' AND NOT NEW."test"
    AND NEW."event_type" IS DISTINCT FROM 'webhook.test' AND NEW."last_error" IS DISTINCT FROM 'WEBHOOK_REMOVED')
  EXECUTE FUNCTION "note_for_mail"('failed_deliveries');
