import { createHash } from 'node:crypto';
import type { RefusedTries, TryLimit } from './attempts.js';
import type { SessionSecrets } from './session.js';

/** A clock that a test moves. */
export const clock = () => {
  let at = Date.parse('2026-11-22T10:00:00.000Z');
  return { now: () => new Date(at), pass: (ms: number) => (at += ms) };
};

/** Tokens `token 1`, `token 2` …, and hashes that tests can compare. */
export const secrets = (): SessionSecrets => {
  let issued = 0;
  const hash = (text: string) => createHash('sha256').update(text).digest();
  const issue = () => {
    issued += 1;
    return `token ${issued}`;
  };
  return { issue, hash, hashAddress: (text) => hash(`address ${text}`) };
};

const idOf = (key: Uint8Array) => Buffer.from(key).toString('hex');

/** Counts attempts as the database does. `total`: the attempts that are counted under all keys. */
export const attemptCounts = (windowMs: number) => {
  const counted = new Map<string, number[]>();
  const timesOf = (key: Uint8Array) => counted.get(idOf(key)) ?? [];
  return {
    reserve: async (limits: readonly TryLimit[], now: Date): Promise<RefusedTries[]> => {
      const recent = (key: Uint8Array) => timesOf(key).filter((time) => time > now.getTime() - windowMs);
      const refused = limits.filter(({ key, tries }) => recent(key).length >= tries);
      if (refused.length === 0) for (const { key } of limits) counted.set(idOf(key), [...recent(key), now.getTime()]);
      return refused.map(({ key }) => ({ key: Buffer.from(key), free: new Date((recent(key)[0] ?? 0) + windowMs) }));
    },
    forget: async (key: Uint8Array) => void counted.delete(idOf(key)),
    takeBack: async (keys: readonly Uint8Array[]) => {
      for (const key of keys) counted.set(idOf(key), timesOf(key).slice(1));
    },
    total: () => [...counted.values()].reduce((sum, times) => sum + times.length, 0),
  };
};

/** A memory whose entries live for `ms` milliseconds. */
export const memory = <Value>(ms: number) => {
  const stored = new Map<string, { value: Value; until: number }>();
  return {
    find: (key: string, at: Date) => {
      const entry = stored.get(key);
      return entry && entry.until > at.getTime() ? entry.value : undefined;
    },
    set: (key: string, value: Value, at: Date) => void stored.set(key, { value, until: at.getTime() + ms }),
  };
};

/** The code of the error with which a promise rejects, `null` when it resolves. */
export const codeOf = (work: Promise<unknown>): Promise<string | null> =>
  work.then(
    () => null,
    (error: { code?: string }) => error.code ?? String(error),
  );
