import type { Caller } from '@vat/db';
import { hashApiKey, issueKey } from '@vat/domain';
import type { Request, Response } from 'express';
import { contextOf } from '../http/call.js';
import { authenticate } from './authenticate.js';

const CALLER: Caller = { keyId: 'k', test: false, accountId: 'a', plan: 'free', quota: 1, disabled: false };

const newKey = (): string => issueKey('Test', false).key;

/** The middleware on a clock and a table of keys of its own, and the keys that were looked up. */
const open = () => {
  let at = 0;
  const stored = new Map<string, Caller>();
  const lookups: string[] = [];
  const idOf = (hash: Uint8Array) => Buffer.from(hash).toString('hex');
  const handler = authenticate({
    findKey: async (hash) => {
      lookups.push(idOf(hash));
      return stored.get(idOf(hash)) ?? null;
    },
    touchKey: async () => undefined,
    now: () => new Date(at),
  });
  /** The account that a call with the key is of, or the code of its error. */
  const call = async (key: string): Promise<string> => {
    const req = { get: () => `Bearer ${key}` } as unknown as Request;
    const res = { locals: {}, setHeader: () => undefined } as unknown as Response;
    try {
      await handler(req, res, () => undefined);
      return contextOf(res).caller?.accountId ?? 'nobody';
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  const store = (key: string) => stored.set(idOf(hashApiKey(key)), CALLER);
  const revoke = (key: string) => stored.delete(idOf(hashApiKey(key)));
  return { call, store, revoke, lookups, pass: (ms: number) => (at += ms) };
};

test('an unknown key is looked up once in five seconds, however often it is used', async () => {
  const { call, lookups, pass } = open();
  const key = newKey();
  for (let n = 0; n < 100; n += 1) expect(await call(key)).toBe('UNAUTHORIZED');
  expect(lookups).toHaveLength(1);
  pass(5_000);
  expect(await call(key)).toBe('UNAUTHORIZED');
  expect(lookups).toHaveLength(2);
});

test('a new key works at once while others are unknown', async () => {
  const { call, store } = open();
  for (let n = 0; n < 50; n += 1) await call(newKey());
  const key = newKey();
  store(key);
  expect(await call(key)).toBe('a');
});

test('a known key is looked up once in two seconds, so a revoked one is refused after that', async () => {
  const { call, store, revoke, lookups, pass } = open();
  const key = newKey();
  store(key);
  for (let n = 0; n < 10; n += 1) await call(key);
  expect(lookups).toHaveLength(1);
  revoke(key);
  pass(1_999);
  expect(await call(key)).toBe('a');
  pass(1);
  expect(await call(key)).toBe('UNAUTHORIZED');
});

test('a key that is revoked after the clock was set back is refused two seconds later as well', async () => {
  const { call, store, revoke, pass } = open();
  const [key, unknown] = [newKey(), newKey()];
  pass(3_600_000);
  store(key);
  expect([await call(key), await call(unknown)]).toEqual(['a', 'UNAUTHORIZED']);
  pass(-3_600_000);
  await call(key);
  revoke(key);
  store(unknown);
  pass(2_000);
  expect([await call(key), await call(unknown)]).toEqual(['UNAUTHORIZED', 'a']);
});

test('what is no key by its form is not looked up at all', async () => {
  const { call, lookups } = open();
  for (const key of ['', 'vat_live_x', `${newKey()}0`]) expect(await call(key)).toBe('UNAUTHORIZED');
  expect(lookups).toEqual([]);
});

test('calls that come while their key is read share the read', async () => {
  const { call, store, lookups } = open();
  const [key, unknown] = [newKey(), newKey()];
  store(key);
  const codes = await Promise.all([key, unknown, key, unknown, key].map(call));
  expect(codes).toEqual(['a', 'UNAUTHORIZED', 'a', 'UNAUTHORIZED', 'a']);
  expect(lookups).toHaveLength(2);
});
