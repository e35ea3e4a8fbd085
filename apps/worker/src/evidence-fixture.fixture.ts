import { createHash, randomBytes } from 'node:crypto';
import {
  auditAnchors,
  closeAlone,
  connectDatabase,
  type Database,
  findLeaves,
  findPendingStamp,
  readBlocks,
  recordStamp,
} from '@vat/db';
import { makeStamp, newUuid, newUuidAt } from '@vat/domain';
import {
  closeNextAnchor,
  createDevelopmentAuthority,
  makeDevelopmentIdentity,
  proveChecks,
  requestTimestamp,
  verifyAnchors,
} from '@vat/evidence/proof';
import { type ClonedDatabase, cloneDatabase } from '@vat/testkit';

export const now = () => new Date();
export const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();

/** A check as the fixture inserts it. */
export type FixtureCheck = { id: string; requestId: string; bytes: Buffer; hash: Buffer };

/** A database without processes, and the operations on its evidence. */
export const openEvidenceFixture = async () => {
  const cloned: ClonedDatabase = await cloneDatabase();
  const connected = connectDatabase({
    url: cloned.url,
    maxConnections: 10,
    queryTimeoutMs: 20_000,
    connectTimeoutMs: 5_000,
    applicationName: 'vat-evidence-test',
  });
  const db: Database = connected.db;
  const authority = await createDevelopmentAuthority({ identity: await makeDevelopmentIdentity(now()), now });
  const request = requestTimestamp({ send: authority.reply, now });

  const insertAccount = async (): Promise<string> => {
    const id = newUuid();
    await db.$executeRaw`INSERT INTO account (id, name, plan, created_at) VALUES (${id}::uuid, 'Fixture', 'free', ${now()}::timestamptz)`;
    return id;
  };
  /** Inserts checks with their dependent rows, as the statement that records a check does. */
  const insertChecks = async (n: number, { accountId = newUuid(), at = now() } = {}): Promise<FixtureCheck[]> => {
    const checks = Array.from({ length: n }, () => {
      const bytes = randomBytes(64);
      return { id: newUuidAt(at), requestId: newUuidAt(at), bytes, hash: sha256(bytes) };
    });
    const rows = checks.map(({ id, requestId, bytes, hash }) => ({
      ...{ id, request_id: requestId, exchange_id: newUuidAt(at) },
      ...{ event_id: newUuidAt(at), delivery_id: newUuidAt(at) },
      ...{ body: bytes.toString('hex'), hash: hash.toString('hex') },
    }));
    await db.$executeRaw`
      WITH c AS (
        SELECT id, request_id, exchange_id, event_id, delivery_id, decode(body, 'hex') AS body, decode(hash, 'hex') AS hash
        FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS r(id uuid, request_id uuid, exchange_id uuid,
          event_id uuid, delivery_id uuid, body text, hash text)
      ), requested AS (
        INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, entries, created_at,
          window_ends_at, due_at, ended_at, check_id)
        SELECT request_id, ${accountId}::uuid, false, 'completed', 'DE1', 'DE', '1', 'DE1', '[]', ${at}::timestamptz,
          ${at}::timestamptz, ${at}::timestamptz, ${at}::timestamptz, id FROM c
      ), checked AS (
        INSERT INTO "check" (id, account_id, request_id, test, vat_number, valid, checked_at, body, hash)
        SELECT id, ${accountId}::uuid, request_id, false, 'DE1', true, ${at}::timestamptz, body, hash FROM c
      ), exchanged AS (
        INSERT INTO exchange (id, request_id, source, started_at, duration_ms, method, url, request_headers, request_body,
          request_sha256, complete)
        SELECT exchange_id, request_id, 'vies', ${at}::timestamptz, 1, 'POST', 'https://vies', '{}', body, hash, false FROM c
      ), told AS (
        INSERT INTO event (id, account_id, type, subject_id, body, test, created_at)
        SELECT event_id, ${accountId}::uuid, 'check.completed', request_id, '{}', false, ${at}::timestamptz FROM c
      ), sent AS (
        INSERT INTO delivery (id, account_id, event_id, state, created_at)
        SELECT delivery_id, ${accountId}::uuid, event_id, 'successful', ${at}::timestamptz FROM c
      ), ledger AS (
        INSERT INTO usage_entry (check_id, account_id, period, consumed_at)
        SELECT id, ${accountId}::uuid, '2026-11', ${at}::timestamptz FROM c
      )
      INSERT INTO anchor_leaf (check_id, hash) SELECT id, hash FROM c`;
    return checks;
  };
  const close = (sizes: { pageLeaves?: number; maxLeaves?: number } = {}) =>
    closeNextAnchor({ closeAlone: closeAlone(db), now, ...sizes })();
  const stamp = makeStamp({
    findPending: findPendingStamp(db),
    stamp: async (data) => {
      const { tokenBytes: token, ...facts } = await request(sha256(data));
      return { token, ...facts };
    },
    record: recordStamp(db),
    reasonOf: () => null,
    retryDelaysMs: [1_000],
    now,
  });
  /** The sizes of the anchors, oldest first. */
  const sizes = async (): Promise<number[]> =>
    (await db.$queryRaw<{ tree_size: number }[]>`SELECT tree_size FROM anchor ORDER BY seq`).map(
      (row) => row.tree_size,
    );
  return {
    ...{ db, url: cloned.url, insertAccount, insertChecks, close, stamp, sizes },
    verify: verifyAnchors({ audit: auditAnchors(db), now }),
    prove: proveChecks({ findLeaves: findLeaves(db), readBlocks: readBlocks(db) }),
    stop: async () => {
      await connected.close();
      await cloned.drop();
    },
  };
};
export type EvidenceFixture = Awaited<ReturnType<typeof openEvidenceFixture>>;
