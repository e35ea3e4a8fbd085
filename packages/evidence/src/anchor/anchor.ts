import { createHash } from 'node:crypto';
import { canonicalForm } from '../hash-check.js';

/** Names how an anchor's root is made: the tree of RFC 9162 with SHA-256. */
export const ANCHOR_ALGORITHM = 'rfc9162-sha256';

/** The first anchor has no predecessor; nothing is known whose SHA-256 is this. */
export const NO_ANCHOR_HASH = '0'.repeat(64);

/**
 * What is chained and time-stamped for one tree of checks. Exactly these seven keys are hashed. Source: contract part 2 §7.
 */
export type Anchor = {
  v: 1;
  /** 1 for the first anchor, then one more each time. */
  seq: number;
  alg: typeof ANCHOR_ALGORITHM;
  /** RFC 3339, UTC, milliseconds; never before that of the anchor before. */
  closed_at: string;
  /** Leaves of the tree; at least 1, for an anchor of nothing says nothing. */
  tree_size: number;
  /** The tree's root, 64 hex digits. */
  root: string;
  /** SHA-256 of the JCS form of the anchor before, 64 hex digits; {@link NO_ANCHOR_HASH} in the first. */
  prev_anchor_hash: string;
};

const HASH = /^[0-9a-f]{64}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const count = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 1;
const hash = (value: unknown) => typeof value === 'string' && HASH.test(value);
const time = (value: unknown) => typeof value === 'string' && TIME.test(value) && !Number.isNaN(Date.parse(value));

const RULES: Readonly<Record<string, (value: unknown) => boolean>> = {
  v: (value) => value === 1,
  seq: count,
  alg: (value) => value === ANCHOR_ALGORITHM,
  closed_at: time,
  tree_size: count,
  root: hash,
  prev_anchor_hash: hash,
};

/** What keeps `value` from being an anchor (`a missing root`, `an unknown key x` …), or null when it is one. */
export const evaluateAnchor = (value: unknown): string | null => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'no object';
  const entries = new Map(Object.entries(value));
  for (const key of entries.keys()) if (!Object.hasOwn(RULES, key)) return `an unknown key ${key}`;
  for (const [key, holds] of Object.entries(RULES)) {
    if (!entries.has(key)) return `a missing ${key}`;
    if (!holds(entries.get(key))) return `a wrong ${key}`;
  }
  return null;
};

/**
 * The bytes of an anchor: its JCS form, which is what is hashed, time-stamped and kept. Throws an Error when it is not an
 * anchor (a key too many would change the hash and be seen by nobody).
 */
export const encodeAnchor = (anchor: Anchor): Buffer => {
  const wrong = evaluateAnchor(anchor);
  if (wrong !== null) throw new Error(`not an anchor: ${wrong}`);
  return canonicalForm(anchor);
};

const decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * An anchor from its kept bytes. Throws an Error unless they are the JCS form of an anchor to the byte, so that what was
 * read can be hashed again from its fields.
 */
export const decodeAnchor = (bytes: Uint8Array): Anchor => {
  const value: unknown = JSON.parse(decoder.decode(bytes));
  const wrong = evaluateAnchor(value);
  if (wrong !== null) throw new Error(`not an anchor: ${wrong}`);
  if (!canonicalForm(value).equals(bytes)) throw new Error('not the canonical form of an anchor');
  return value as Anchor;
};

/** The SHA-256 of an anchor's JCS form, 64 hex digits: the next anchor's `prev_anchor_hash`. Throws when it is no anchor. */
export const hashAnchor = (anchor: Anchor): string => createHash('sha256').update(encodeAnchor(anchor)).digest('hex');
