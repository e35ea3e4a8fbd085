import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { canonicalText } from '../canonical-form.js';

/** The algorithm of an anchor's root: the tree of RFC 9162 with SHA-256. */
export const ANCHOR_ALGORITHM = 'rfc9162-sha256';

/** `prev_anchor_hash` of the first anchor, which has no predecessor. No known input has this SHA-256. */
export const NO_ANCHOR_HASH = '0'.repeat(64);

/**
 * The record that is chained and time-stamped for one tree of checks. Exactly these seven keys are hashed. See docs/evidence.md.
 */
export type Anchor = {
  v: 1;
  /** 1 for the first anchor, then one more each time. */
  seq: number;
  alg: typeof ANCHOR_ALGORITHM;
  /** RFC 3339, UTC, milliseconds; never earlier than in the previous anchor. */
  closed_at: string;
  /** Number of leaves of the tree, at least 1. */
  tree_size: number;
  /** The tree's root, 64 hex digits. */
  root: string;
  /** SHA-256 of the JCS form of the previous anchor, 64 hex digits; {@link NO_ANCHOR_HASH} in the first. */
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

/** The reason why `value` is not an anchor (`a missing root`, `an unknown key x` …), or null if it is one. */
export const evaluateAnchor = (value: unknown): string | null => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'not an object';
  const entries = new Map(Object.entries(value));
  for (const key of entries.keys()) if (!Object.hasOwn(RULES, key)) return `an unknown key ${key}`;
  for (const [key, isValid] of Object.entries(RULES)) {
    if (!entries.has(key)) return `a missing ${key}`;
    if (!isValid(entries.get(key))) return `a wrong ${key}`;
  }
  return null;
};

/**
 * The bytes of an anchor: its JCS form, which is hashed, time-stamped and stored. Throws an Error if the value is not an
 * anchor, because an additional key would change the hash unnoticed.
 */
export const encodeAnchor = (anchor: Anchor): Uint8Array<ArrayBuffer> => {
  const wrong = evaluateAnchor(anchor);
  if (wrong !== null) throw new Error(`not an anchor: ${wrong}`);
  return new TextEncoder().encode(canonicalText(anchor));
};

/**
 * Reads an anchor from its stored bytes. Throws an Error unless they are exactly the JCS form of an anchor, so that hashing
 * the fields again gives the same hash.
 */
export const decodeAnchor = (bytes: Uint8Array): Anchor => {
  // A byte order mark is not ignored, because it would be part of what is hashed.
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  const value: unknown = JSON.parse(text);
  const wrong = evaluateAnchor(value);
  if (wrong !== null) throw new Error(`not an anchor: ${wrong}`);
  if (canonicalText(value) !== text) throw new Error('not the canonical form of an anchor');
  return value as Anchor;
};

/** The SHA-256 of an anchor's JCS form, 64 hex digits: the next anchor's `prev_anchor_hash`. Throws if it is not an anchor. */
export const hashAnchor = (anchor: Anchor): string => bytesToHex(sha256(encodeAnchor(anchor)));
