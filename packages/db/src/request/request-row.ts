import type {
  Answer,
  CheckEntry,
  CheckRequest,
  MemberState,
  RequestOrigin,
  RequestState,
  StoredCheck,
  Trader,
} from '@vat/domain';
import { Prisma } from '../generated/client.js';

/** A row of `request` joined with its account, as raw queries return it. */
export type RequestRow = {
  id: string;
  account_id: string;
  account_disabled: boolean;
  test: boolean;
  origin: RequestOrigin;
  state: RequestState;
  input: string;
  country_code: MemberState;
  national: string;
  vat_number: string;
  requester: string | null;
  reference: string | null;
  trader: Trader | null;
  entries: CheckEntry[];
  created_at: Date;
  window_ends_at: Date;
  accepted_at: Date | null;
  give_up_at: Date | null;
  due_at: Date;
  asking_since: Date | null;
  attempts: number;
  window_retries: number;
  background_retries: number;
  last_error: string | null;
  reason: string | null;
  unconfirmed: Answer | null;
  unconfirmed_at: Date | null;
  requester_dropped: boolean;
  answer: Answer | null;
  check_id: string | null;
};

/**
 * The columns of {@link RequestRow}, for a query with the aliases `request` r and `account` a. They are listed, so that a
 * column added by a migration does not change the result of a statement that is already planned.
 */
export const REQUEST_COLUMNS = Prisma.sql`r.id, r.account_id, a.disabled_at IS NOT NULL AS account_disabled, r.test,
  r.origin, r.state, r.input, r.country_code, r.national, r.vat_number, r.requester, r.reference, r.trader, r.entries, r.created_at,
  r.window_ends_at, r.accepted_at, r.give_up_at, r.due_at, r.asking_since, r.attempts, r.window_retries,
  r.background_retries, r.last_error, r.reason, r.unconfirmed, r.unconfirmed_at, r.requester_dropped, r.answer,
  r.check_id`;

/** Converts a row to the domain's request. */
export const requestOfRow = (row: RequestRow): CheckRequest => ({
  id: row.id,
  accountId: row.account_id,
  accountDisabled: row.account_disabled,
  test: row.test,
  origin: row.origin,
  state: row.state,
  input: row.input,
  memberState: row.country_code,
  national: row.national,
  vatNumber: row.vat_number,
  requester: row.requester,
  reference: row.reference,
  trader: row.trader,
  entries: row.entries,
  createdAt: row.created_at,
  windowEndsAt: row.window_ends_at,
  acceptedAt: row.accepted_at,
  giveUpAt: row.give_up_at,
  dueAt: row.due_at,
  lookupStartedAt: row.asking_since,
  attempts: row.attempts,
  windowRetries: row.window_retries,
  backgroundRetries: row.background_retries,
  lastError: row.last_error,
  reason: row.reason,
  unconfirmed: row.unconfirmed,
  unconfirmedAt: row.unconfirmed_at,
  numberAlone: row.requester_dropped,
  answer: row.answer,
  checkId: row.check_id,
});

/** A row of {@link REQUESTS_WITH_CHECKS}. */
export type RequestWithCheckRow = RequestRow & { check_body: Uint8Array | null; check_hash: Uint8Array | null };

/** A query of requests `r` with their checks; a WHERE clause must follow. */
export const REQUESTS_WITH_CHECKS = Prisma.sql`
  SELECT ${REQUEST_COLUMNS}, c.body AS check_body, c.hash AS check_hash
  FROM request r JOIN account a ON a.id = r.account_id LEFT JOIN "check" c ON c.id = r.check_id`;

/** A request, and its check if there is one. */
export type RequestWithCheck = { request: CheckRequest; check: StoredCheck | null };

/** Converts a row to the domain's request and check. */
export const requestWithCheck = (row: RequestWithCheckRow): RequestWithCheck => ({
  request: requestOfRow(row),
  check:
    row.check_id && row.check_body && row.check_hash
      ? { id: row.check_id, bytes: row.check_body, hash: row.check_hash }
      : null,
});
