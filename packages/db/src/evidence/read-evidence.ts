import type { ExportedChange, ExportedCheck, ExportedRequest, ReadEvidence } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { readExchanges } from './read-exchanges.js';

/** Bytes travel as hex, see `readExchanges`. */
type CheckRow = Pick<ExportedCheck, 'id' | 'requestId'> & { bytes: string; hash: string; token: string | null };
const bytesOf = (hex: string): Uint8Array => Buffer.from(hex, 'hex');

/** What an export reads, by ids; no order. The caller has chosen them among an account's own. */
export const readEvidence = (db: Queryable): ReadEvidence => ({
  checks: async (ids) => {
    const rows = await db.$queryRaw<CheckRow[]>`
    SELECT c.id, c.request_id AS "requestId", encode(c.body, 'hex') AS bytes, encode(c.hash, 'hex') AS hash,
      encode(s.token, 'hex') AS token
    FROM "check" c LEFT JOIN stamp s ON s.subject_id = c.id WHERE c.id = ANY(${[...ids]}::uuid[])`;
    return rows.map(({ bytes, hash, token, ...row }) => ({
      ...row,
      bytes: bytesOf(bytes),
      hash: bytesOf(hash),
      token: token === null ? null : bytesOf(token),
    }));
  },
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
