import { newUuidAt, type PublicId, publicId } from '../ids.js';
import { matchTrader, SCORED_PARTS, type StatedTrader, type TraderScore } from '../match/match-trader.js';
import type { MemberState } from '../member-states.js';
import { TRADER_FIELDS, type Trader, type TraderMatch } from '../trader.js';
import type { CheckEntry, Verdict } from './entry.js';
import { type EvidenceGrade, gradeEvidence } from './evidence-grade.js';
import { FACT_NAMES } from './facts.js';
import type { Answer } from './upstream.js';

/** The name of the procedure that makes `response_hash`. */
export const HASH_PROFILE = 'jcs-sha256-v1';

/**
 * A check without the three fields that are not hashed (`response_hash`, `timestamp`, `anchor`). Its RFC 8785 form is
 * the evidence: numbers are integers, keys are `[a-z0-9_]`. Optional fields are absent from checks that were recorded
 * before the fields existed; those are served and verified with the bytes that were hashed.
 */
export type CheckBody = {
  id: PublicId<'check'>;
  object: 'check';
  test?: true;
  request_id: PublicId<'request'>;
  vat_number: string;
  country_code: MemberState;
  input: string;
  valid: boolean;
  verdict: Verdict;
  name: string | null;
  address: string | null;
  requester_vat_number: string | null;
  consultation_number: string | null;
  trader_match: TraderMatch | null;
  /** As given by the caller. */
  trader?: Trader | null;
  /** Our comparison of `trader` with what all sources state; null without a trader. */
  match?: TraderScore | null;
  evidence_grade?: EvidenceGrade;
  reference: string | null;
  checks: CheckEntry[];
  checked_at: string;
  salt: string;
  hash_profile: typeof HASH_PROFILE;
};

/** The check object as the API serves it at its recording: its evidence is made later. */
export type PublicCheck = CheckBody & { response_hash: string; timestamp: null; anchor: null };

/** The request of a check: what its body repeats. `id` is a UUID. */
export type CheckSubject = {
  id: string;
  test: boolean;
  vatNumber: string;
  memberState: MemberState;
  input: string;
  /** Normalised requester number, prefix included. */
  requester: string | null;
  reference: string | null;
  trader: Trader | null;
  entries: CheckEntry[];
};

/** What every source of a check states about the trader. Among equal scores the first source counts. */
const statedTraders = ({ memberState, entries }: CheckSubject, { name, address }: Answer): StatedTrader[] => [
  { source: 'vies', memberState, name, address },
  ...entries.flatMap(({ source, facts }) =>
    facts ? [{ source, memberState, name: facts.name ?? null, address: facts.address ?? null }] : [],
  ),
];

/** The body to be hashed. `salt`: 32 hex digits, which prevent finding a number from its hash by guessing. */
export const checkBody = (checkId: string, request: CheckSubject, answer: Answer, salt: string): CheckBody => {
  const body = {
    id: publicId('check', checkId),
    object: 'check' as const,
    ...(request.test ? { test: true as const } : {}),
    request_id: publicId('request', request.id),
    vat_number: request.vatNumber,
    country_code: request.memberState,
    input: request.input,
    valid: answer.verdict === 'valid',
    verdict: answer.verdict,
    name: answer.name,
    address: answer.address,
    requester_vat_number: request.requester,
    consultation_number: answer.consultationNumber,
    trader_match: answer.traderMatch,
    trader: request.trader,
    match: matchTrader(request.trader, statedTraders(request, answer)),
    reference: request.reference,
    checks: request.entries,
    checked_at: answer.answeredAt,
    salt,
    hash_profile: HASH_PROFILE,
  } satisfies CheckBody;
  return { ...body, evidence_grade: gradeEvidence(body) };
};

/** A check ready to be recorded: `bytes` is the RFC 8785 form of `body`, `hash` its SHA-256 (32 bytes). */
type HashedCheck = { body: CheckBody; bytes: Uint8Array; hash: Uint8Array };

/** Port: canonicalises and hashes a check's body. Throws when the body is not JCS-safe. */
export type HashCheck = (body: CheckBody) => HashedCheck;

/** What the database stores of a check. `id` is a UUID. */
export type CheckRecord = {
  id: string;
  vatNumber: string;
  valid: boolean;
  reference: string | null;
  checkedAt: Date;
  bytes: Uint8Array;
  hash: Uint8Array;
};

export type MakeCheckDeps = { hashCheck: HashCheck; newSalt: () => string };

/** A check that is not recorded yet: `hashed` is what the API shows, `check` what the database stores. */
export type MadeCheck = { hashed: HashedCheck; check: CheckRecord };

/**
 * Makes the check of a request from its answer: a new id, the hashed body and the record. The time in the id is `checked_at`
 * and not that of the recording, so that lists find the checks of a period by their ids.
 */
export const makeCheck =
  ({ hashCheck, newSalt }: MakeCheckDeps) =>
  (request: CheckSubject, answer: Answer): MadeCheck => {
    const checkedAt = new Date(answer.answeredAt);
    const id = newUuidAt(checkedAt);
    const hashed = hashCheck(checkBody(id, request, answer, newSalt()));
    const check = {
      id,
      vatNumber: request.vatNumber,
      valid: answer.verdict === 'valid',
      reference: request.reference,
      checkedAt,
      bytes: hashed.bytes,
      hash: hashed.hash,
    };
    return { hashed, check };
  };

/** A recorded check, as the database gives it back. */
export type StoredCheck = { id: string; bytes: Uint8Array; hash: Uint8Array };

/**
 * The order of keys in a check for readers. The hashed bytes are sorted by RFC 8785, so this order is independent of the
 * hash.
 */
const READING_ORDER = [
  'id',
  'object',
  'test',
  'request_id',
  'vat_number',
  'country_code',
  'input',
  'valid',
  'verdict',
  'name',
  'address',
  'requester_vat_number',
  'consultation_number',
  'trader_match',
  'trader',
  'match',
  'evidence_grade',
  'reference',
  'checks',
  'checked_at',
  'salt',
  'hash_profile',
] as const satisfies readonly (keyof CheckBody)[];
const MATCH_ORDER = ['score', ...SCORED_PARTS] as const satisfies readonly (keyof TraderScore)[];
const PART_ORDER = ['score', 'expected', 'found', 'source'] as const;
const ENTRY_ORDER = [
  'source',
  'outcome',
  'code',
  'attempts',
  'backpressure',
  'started_at',
  'duration_ms',
  'detail',
  'facts',
  'contradicts',
] as const;

/** The same object with its keys in `order`. Keys that are not named follow, so nothing recorded is omitted. */
const inOrder = <T extends object>(value: T, order: readonly (keyof T & string)[]): T => {
  const named = order.filter((key) => Object.hasOwn(value, key)).map((key) => [key, value[key]]);
  return { ...Object.fromEntries(named), ...value };
};

/** Entries with their keys in reading order; the database does not preserve the order of keys. */
export const readableEntries = (entries: readonly CheckEntry[]): CheckEntry[] =>
  entries.map((entry) =>
    inOrder(entry.facts ? { ...entry, facts: inOrder(entry.facts, FACT_NAMES) } : entry, ENTRY_ORDER),
  );

/** A match with its keys in reading order, also those of its parts. */
const readableMatch = (match: TraderScore): TraderScore => {
  const parts = SCORED_PARTS.map((part) => [part, match[part] && inOrder(match[part], PART_ORDER)]);
  return inOrder({ ...match, ...Object.fromEntries(parts) }, MATCH_ORDER);
};

/** The check object of the API from the bytes that were hashed, so that what is served is what was recorded. */
export const publicCheck = (check: Pick<StoredCheck, 'bytes' | 'hash'>): PublicCheck => {
  const body = JSON.parse(Buffer.from(check.bytes).toString('utf8')) as CheckBody;
  return {
    ...inOrder(body, READING_ORDER),
    ...(body.trader ? { trader: inOrder(body.trader, TRADER_FIELDS) } : {}),
    ...(body.match ? { match: readableMatch(body.match) } : {}),
    checks: readableEntries(body.checks),
    response_hash: `sha256:${Buffer.from(check.hash).toString('hex')}`,
    timestamp: null,
    anchor: null,
  };
};

// Headers that explain an answer later: type, time, server, Retry-After, and ids for a support request. Cookies and other
// headers that may carry secrets are not evidence.
const STORED_HEADERS =
  /^(?:content-(?:type|length|encoding)|date|age|retry-after|server|via|cf-ray|traceparent|x-(?:[a-z0-9-]+-)?(?:request|correlation|trace|transaction)-?id)$/;
const MAX_VALUE_LENGTH = 500;

/** The headers of an answer that are stored with an exchange: lower-case names, values cut at 500 characters. */
export const storedHeaders = (headers: Record<string, string | string[] | undefined>): Record<string, string> => {
  const stored: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || !STORED_HEADERS.test(name)) continue;
    stored[name] = (Array.isArray(value) ? value.join(', ') : value).slice(0, MAX_VALUE_LENGTH);
  }
  return stored;
};
