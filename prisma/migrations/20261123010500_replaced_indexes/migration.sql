-- Replaced by the indexes of the migrations before, by which the release before finds the same rows, or by
-- "check_account_id_id_idx".
SET LOCAL lock_timeout = '3s';
DROP INDEX "check_account_id_vat_number_id_idx";
DROP INDEX "check_account_id_reference_id_idx";
DROP INDEX "check_account_id_checked_at_idx";
DROP INDEX "request_pending_direct";
