import { ANCHOR_ALGORITHM } from './anchor.js';

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
export const judgeAnchor = (value: unknown): string | null => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'no object';
  const entries = new Map(Object.entries(value));
  for (const key of entries.keys()) if (!Object.hasOwn(RULES, key)) return `an unknown key ${key}`;
  for (const [key, holds] of Object.entries(RULES)) {
    if (!entries.has(key)) return `a missing ${key}`;
    if (!holds(entries.get(key))) return `a wrong ${key}`;
  }
  return null;
};
