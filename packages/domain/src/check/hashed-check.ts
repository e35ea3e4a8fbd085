import type { CheckBody, PublicCheck } from './check-body.js';
import type { CheckEntry } from './entry.js';
import { FACT_NAMES } from './facts.js';
import { TRADER_FIELDS } from './upstream.js';

/** A check ready to be recorded: `bytes` is the RFC 8785 form of `body`, `hash` its SHA-256 (32 bytes). */
export type HashedCheck = { body: CheckBody; bytes: Uint8Array; hash: Uint8Array };

/** Port: canonicalises and hashes a check's body. Throws when the body is not JCS-safe. */
export type HashCheck = (body: CheckBody) => HashedCheck;

/** A recorded check, as the database gives it back. */
export type StoredCheck = { id: string; bytes: Uint8Array; hash: Uint8Array };

/**
 * The order in which people read a check. The hashed bytes are sorted by RFC 8785; order is no part of what is hashed, so
 * it is free to be kind.
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
  'reference',
  'checks',
  'checked_at',
  'salt',
  'hash_profile',
] as const satisfies readonly (keyof CheckBody)[];
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

/** The same object with its keys in `order`; keys that are not named follow, so that nothing recorded is ever left out. */
const inOrder = <T extends object>(value: T, order: readonly (keyof T & string)[]): T => {
  const named = order.filter((key) => Object.hasOwn(value, key)).map((key) => [key, value[key]]);
  return { ...Object.fromEntries(named), ...value };
};

/** Entries as people read them; the database keeps their keys in an order of its own. */
export const readableEntries = (entries: readonly CheckEntry[]): CheckEntry[] =>
  entries.map((entry) =>
    inOrder(entry.facts ? { ...entry, facts: inOrder(entry.facts, FACT_NAMES) } : entry, ENTRY_ORDER),
  );

/** The check object of the API from the bytes that were hashed, so that what is served is what was recorded. */
export const publicCheck = (check: Pick<StoredCheck, 'bytes' | 'hash'>): PublicCheck => {
  const body = JSON.parse(Buffer.from(check.bytes).toString('utf8')) as CheckBody;
  return {
    ...inOrder(body, READING_ORDER),
    ...(body.trader ? { trader: inOrder(body.trader, TRADER_FIELDS) } : {}),
    checks: readableEntries(body.checks),
    response_hash: `sha256:${Buffer.from(check.hash).toString('hex')}`,
    timestamp: null,
    anchor: null,
  };
};
