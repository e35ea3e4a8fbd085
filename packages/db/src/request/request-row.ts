import type {
  Answer,
  CheckEntry,
  MemberState,
  RequestOrigin,
  RequestState,
  RequestWithCheck,
  Trader,
} from '@vat/domain';
import { Prisma } from '../generated/client.js';
import { all, columns, isOneOf, query, type Reader, type RowOf, selectList, typed } from '../query.js';
import { madeSoon } from '../uuid-bounds.js';

const STORED = columns({
  ...all('uuid', 'id', 'accountId'),
  ...all('bool', 'test', 'numberAlone'),
  origin: typed<RequestOrigin>('text'),
  state: typed<RequestState>('text'),
  ...all('text', 'input', 'national', 'vatNumber'),
  memberState: typed<MemberState>('text'),
  ...all('text?', 'requester', 'reference', 'lastError', 'reason'),
  trader: typed<Trader | null>('jsonb?'),
  entries: typed<CheckEntry[]>('jsonb'),
  ...all('timestamptz', 'createdAt', 'windowEndsAt', 'dueAt'),
  ...all('timestamptz?', 'acceptedAt', 'giveUpAt', 'lookupStartedAt', 'unconfirmedAt'),
  ...all('int4', 'attempts', 'windowRetries', 'backgroundRetries'),
  unconfirmed: typed<Answer | null>('jsonb?'),
  answer: typed<Answer | null>('jsonb?'),
  checkId: 'uuid?',
});

/** The domain's request. */
export const REQUEST = columns({ ...STORED, accountDisabled: 'bool' });

/**
 * The columns of {@link REQUEST}, for a query with the aliases `request` r and `account` a. They are listed, so that a column
 * added by a migration does not change the result of a statement that is already planned.
 */
export const REQUEST_LIST = Prisma.sql`${selectList('r', STORED, {
  memberState: 'country_code',
  lookupStartedAt: 'asking_since',
  numberAlone: 'requester_dropped',
})}, a.disabled_at IS NOT NULL AS "accountDisabled"`;

/** A row of {@link requestsWithChecks}. */
export const REQUEST_WITH_CHECK = columns({ ...REQUEST, checkBody: 'bytea?', checkHash: 'bytea?' });

/**
 * A query of the requests `ids`, with the alias r, and of those of their checks that were recorded within days of them; more
 * conditions may follow. A query of all checks would open every partition.
 */
export const requestsWithChecks = (ids: readonly string[]): Prisma.Sql => {
  const soon = madeSoon(ids);
  return Prisma.sql`
    SELECT ${REQUEST_LIST}, c.body AS "checkBody", c.hash AS "checkHash"
    FROM request r JOIN account a ON a.id = r.account_id
      -- LIMIT: one lookup of the index for each request. A join might read the whole range.
      LEFT JOIN LATERAL (
        SELECT body, hash FROM "check" WHERE id = r.check_id AND id >= ${soon.from}::uuid AND id < ${soon.to}::uuid LIMIT 1
      ) c ON true
    WHERE ${isOneOf(Prisma.sql`r.id`, ids)}`;
};

const CHECK = columns({ id: 'uuid', bytes: 'bytea', hash: 'bytea' });

/** Converts rows to the domain's requests and checks, and reads the checks that were recorded long after their request. */
export const withChecks = async (
  db: Reader,
  rows: readonly RowOf<typeof REQUEST_WITH_CHECK>[],
): Promise<RequestWithCheck[]> => {
  const late = rows.flatMap(({ checkId, checkBody }) => (checkId !== null && checkBody === null ? [checkId] : []));
  const checks =
    late.length === 0
      ? []
      : await query(db, CHECK)`SELECT id, body AS bytes, hash FROM "check" WHERE id = ANY(${late}::uuid[])`;
  const byId = new Map(checks.map((check) => [check.id, check]));
  return rows.map(({ checkBody: bytes, checkHash: hash, ...request }) => ({
    request,
    check:
      request.checkId === null
        ? null
        : bytes && hash
          ? { id: request.checkId, bytes, hash }
          : (byId.get(request.checkId) ?? null),
  }));
};
