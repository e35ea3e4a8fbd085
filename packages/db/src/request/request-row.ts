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
import { all, columns, type RowOf, selectList, typed } from '../query.js';

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

/** A row of {@link REQUESTS_WITH_CHECKS}. */
export const REQUEST_WITH_CHECK = columns({ ...REQUEST, checkBody: 'bytea?', checkHash: 'bytea?' });

/** A query of requests `r` with their checks; a WHERE clause must follow. */
export const REQUESTS_WITH_CHECKS = Prisma.sql`
  SELECT ${REQUEST_LIST}, c.body AS "checkBody", c.hash AS "checkHash"
  FROM request r JOIN account a ON a.id = r.account_id LEFT JOIN "check" c ON c.id = r.check_id`;

/** Converts a row to the domain's request and check. */
export const requestWithCheck = ({
  checkBody: bytes,
  checkHash: hash,
  ...request
}: RowOf<typeof REQUEST_WITH_CHECK>): RequestWithCheck => ({
  request,
  check: request.checkId && bytes && hash ? { id: request.checkId, bytes, hash } : null,
});
