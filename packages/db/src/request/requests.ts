import type { FindRequest, RequestState, RequestWithCheck } from '@vat/domain';
import { coalesce } from '../coalesce.js';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { isOneOf, query } from '../query.js';
import { recentId } from '../uuid-bounds.js';
import { REQUEST_WITH_CHECK, requestsWithChecks, withChecks } from './request-row.js';

/** How many pending requests of an account count towards its maximum, as a subquery. `at`: the present. */
export const pendingOfAccount = (accountId: Prisma.Sql, at: Date): Prisma.Sql => Prisma.sql`(
  SELECT count(*)::int FROM request r
  WHERE r.account_id = ${accountId} AND r.state = 'pending' AND r.origin = 'direct' AND r.id >= ${recentId(at)}::uuid
)`;

/** Reads one request; `null` when there is none, or none that `reader`, if given, may read. */
export const findRequest =
  (db: Queryable): FindRequest =>
  async (id, reader) => {
    const accountId = reader?.accountId ?? null;
    const rows = await query(db, REQUEST_WITH_CHECK)`
      ${requestsWithChecks([id])} AND (${accountId}::uuid IS NULL OR r.account_id = ${accountId}::uuid)
        AND (r.test OR NOT ${reader?.testOnly ?? false}::boolean)`;
    const [found] = await withChecks(db, rows);
    return found ?? null;
  };

/** The number of statements of this process that read awaited requests at once. */
const AWAITED_CONCURRENCY = 2;

/**
 * Reads requests that calls of this process wait for. Calls that arrive while a statement runs share the next one, since the
 * windows of thousands may end together.
 */
export const findAwaitedRequest = (db: Queryable): ((id: string) => Promise<RequestWithCheck | null>) => {
  const findAll = async (ids: string[]): Promise<(RequestWithCheck | null)[]> => {
    const rows = await query(db, REQUEST_WITH_CHECK)`${requestsWithChecks(ids)}`;
    const byId = new Map((await withChecks(db, rows)).map((found) => [found.request.id, found]));
    return ids.map((id) => byId.get(id) ?? null);
  };
  return coalesce(findAll, { concurrency: AWAITED_CONCURRENCY, retry: 'together' });
};

/** The ids of those of the given requests that no longer wait for an answer. */
export const findMovedRequests =
  (db: Queryable) =>
  async (ids: readonly string[]): Promise<string[]> => {
    const rows = await query(db, { id: 'uuid' })`
      SELECT id FROM request WHERE ${isOneOf(Prisma.sql`id`, ids)} AND state <> 'waiting'`;
    return rows.map(({ id }) => id);
  };

/** The states of a request that was answered 202. */
export type AcceptedState = Exclude<RequestState, 'waiting' | 'withdrawn'>;
const ACCEPTED_STATES: readonly AcceptedState[] = ['pending', 'completed', 'abandoned'];

/**
 * A page of the account's requests that were answered 202, before `beforeId`, newest first, each with its check if there is
 * one. `state`: only requests in it. Each state is one index scan, limited to the size of the page.
 */
export const listRequests =
  (db: Queryable) =>
  async (
    accountId: string,
    state: AcceptedState | undefined,
    beforeId: string | null,
    limit: number,
  ): Promise<RequestWithCheck[]> => {
    const before = beforeId === null ? Prisma.empty : Prisma.sql`AND id < ${beforeId}::uuid`;
    const ofState = (one: AcceptedState) => Prisma.sql`
      (SELECT id FROM request WHERE account_id = ${accountId}::uuid AND state = ${one} AND accepted_at IS NOT NULL ${before}
       ORDER BY id DESC LIMIT ${limit}::int)`;
    const states = Prisma.join((state === undefined ? ACCEPTED_STATES : [state]).map(ofState), ' UNION ALL ');
    const found = await query(db, { id: 'uuid' })`
      SELECT id FROM (${states}) AS found ORDER BY id DESC LIMIT ${limit}::int`;
    if (found.length === 0) return [];
    const rows = await query(db, REQUEST_WITH_CHECK)`
      ${requestsWithChecks(found.map(({ id }) => id))} ORDER BY r.id DESC`;
    return withChecks(db, rows);
  };
