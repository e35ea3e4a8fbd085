import type { Stamp, StampFacts, StampKind } from '@vat/domain';
import { Prisma } from '../generated/client.js';

/** The facts of a row of `stamp`; all null while it is pending. */
export type FactsRow = {
  gen_time: Date | null;
  accuracy_ms: number | null;
  serial: string | null;
  policy: string | null;
  authority: string | null;
  development: boolean | null;
};

/** A row of `stamp` (as `s`) without its token. */
export type StampRow = FactsRow & {
  subject_id: string;
  kind: StampKind;
  account_id: string | null;
  requested_at: Date;
  attempts: number;
  next_attempt_at: Date | null;
  last_error: string | null;
};

export const FACTS_COLUMNS = Prisma.sql`s.gen_time, s.accuracy_ms, s.serial, s.policy, s.authority, s.development`;
export const STAMP_COLUMNS = Prisma.sql`s.subject_id, s.kind, s.account_id, s.requested_at, s.attempts, s.next_attempt_at,
  s.last_error, ${FACTS_COLUMNS}`;

/** What the token of a row says; null while there is none. */
export const factsOfRow = (row: FactsRow): StampFacts | null =>
  row.gen_time === null
    ? null
    : {
        genTime: row.gen_time,
        accuracyMs: row.accuracy_ms,
        serial: row.serial ?? '',
        policy: row.policy ?? '',
        authority: row.authority ?? '',
        development: row.development ?? false,
      };

export const stampOfRow = (row: StampRow): Stamp => ({
  subjectId: row.subject_id,
  kind: row.kind,
  accountId: row.account_id,
  requestedAt: row.requested_at,
  attempts: row.attempts,
  nextAttemptAt: row.next_attempt_at,
  lastError: row.last_error,
  facts: factsOfRow(row),
});
