-- A user who is being removed at this moment is waited for, and left out once that has happened. Without the lock the statement that
-- ends a batch or a delivery found the user, and failed at the foreign key. That locks the same rows, so nobody waits longer.
CREATE OR REPLACE FUNCTION "note_for_mail"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  subject uuid;
BEGIN
  IF TG_ARGV[0] = 'failed_deliveries' THEN subject := NEW."id"; ELSE subject := NEW."subject_id"; END IF;
  INSERT INTO "mail_item" ("user_id", "kind", "subject_id", "happened_at")
  SELECT u."id", TG_ARGV[0], subject, now() FROM "app_user" u
  WHERE u."account_id" = NEW."account_id" AND TG_ARGV[0] = ANY (u."mail_kinds")
  FOR KEY SHARE
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END
$$;
