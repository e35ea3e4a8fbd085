import type { ExportedChange, ExportedCheck, ExportedRequest, ReadEvidence } from '@vat/domain';
import type { Reader } from '../connect-reader.js';
import { readExchanges } from './read-exchanges.js';

/** What an export reads, by ids; no order. The caller has chosen them among an account's own. */
export const readEvidence = (db: Reader): ReadEvidence => ({
  checks: (ids) => db.$queryRaw<ExportedCheck[]>`
    SELECT c.id, c.request_id AS "requestId", c.body AS bytes, c.hash, s.token
    FROM "check" c LEFT JOIN stamp s ON s.subject_id = c.id WHERE c.id = ANY(${[...ids]}::uuid[])`,
  requests: (ids) => db.$queryRaw<ExportedRequest[]>`
    SELECT id, vat_number AS "vatNumber", requester, reference, state, created_at AS "createdAt",
      accepted_at AS "acceptedAt", give_up_at AS "giveUpAt", ended_at AS "endedAt", attempts,
      last_error AS "lastError", reason, entries
    FROM request WHERE id = ANY(${[...ids]}::uuid[])`,
  exchanges: readExchanges(db),
  anchors: (seqs) => db.$queryRaw<{ seq: number; body: Uint8Array; token: Uint8Array | null }[]>`
    SELECT a.seq, a.body, s.token FROM anchor a LEFT JOIN stamp s ON s.subject_id = a.id
    WHERE a.seq = ANY(${[...seqs]}::int[])`,
  changes: (ids) => db.$queryRaw<ExportedChange[]>`
    SELECT x.id, x.watch_id AS "watchId", w.vat_number AS "vatNumber", w.label, x.kind, x.before, x.after,
      x.check_id AS "checkId", x.changed_at AS "changedAt"
    FROM watch_change x JOIN watch w ON w.id = x.watch_id WHERE x.id = ANY(${[...ids]}::uuid[])`,
});
