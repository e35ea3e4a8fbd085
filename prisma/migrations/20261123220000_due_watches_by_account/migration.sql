-- Accounts take turns among the due watches of a member state. The statement of the release before can use the new index as
-- well, since it begins with the member state.
CREATE INDEX "watch_due_of_account" ON "watch" ("country_code", "account_id", "next_check_at", "id") WHERE "state" = 'active' AND "request_id" IS NULL;
DROP INDEX "watch_due";
