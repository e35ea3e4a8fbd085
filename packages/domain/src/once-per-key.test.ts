import type { BoundKey, StoredAnswer } from './idempotency-key.js';
import { oncePerKey } from './once-per-key.js';

const NOW = new Date('2026-11-20T10:00:00.000Z');
const ANSWER: StoredAnswer = { status: 201, headers: {}, body: Buffer.from('{}') };
const keyOf = (content: string) => ({ key: 'live:a', fingerprint: Buffer.from(content) });
const boundTo = (content: string, answer: StoredAnswer | null): BoundKey => ({
  fingerprint: Buffer.from(content),
  requestId: null,
  lockedUntil: NOW,
  answer,
});

/** A call whose key is bound as `bound` says at its first and its second read. `work` gets the key when it is free. */
const call = (
  bound: readonly (BoundKey | null)[],
  { free = true, resumed = null }: { free?: boolean; resumed?: string | null } = {},
) => {
  const reads = [...bound];
  const done: string[] = [];
  const result = oncePerKey<{ kind: 'done'; by: string }>(async () => reads.shift() ?? null, {
    accountId: 'a',
    idempotency: keyOf('same'),
    now: NOW,
    work: async () => {
      done.push('work');
      return free ? { kind: 'done', by: 'work' } : null;
    },
    resume: async () => (resumed === null ? null : { kind: 'done', by: resumed }),
  });
  return { result, done };
};

test('a free key lets the work be done', async () => {
  await expect(call([null]).result).resolves.toEqual({ kind: 'done', by: 'work' });
});

test('a call without a key does its work and reads no binding', async () => {
  const work = async () => 'done' as const;
  const findKey = () => Promise.reject(new Error('read'));
  const result = oncePerKey(findKey, { accountId: 'a', idempotency: null, now: NOW, work });
  await expect(result).resolves.toBe('done');
});

test('an answered key is replayed, also when it was bound while the work began', async () => {
  const replay = { kind: 'replay', answer: ANSWER };
  const repeated = call([boundTo('same', ANSWER)]);
  await expect(repeated.result).resolves.toEqual(replay);
  expect(repeated.done).toEqual([]);
  await expect(call([null, boundTo('same', ANSWER)], { free: false }).result).resolves.toEqual(replay);
});

test('a key without an answer continues its work, or is in progress', async () => {
  await expect(call([boundTo('same', null)], { resumed: 'resume' }).result).resolves.toEqual({
    kind: 'done',
    by: 'resume',
  });
  const inProgress = { code: 'IDEMPOTENCY_IN_PROGRESS', extra: { retry_after: 1 } };
  const waiting = call([boundTo('same', null)]);
  await expect(waiting.result).rejects.toMatchObject(inProgress);
  expect(waiting.done).toEqual([]);
  await expect(call([null, null], { free: false }).result).rejects.toMatchObject(inProgress);
});

test('a key of another content is refused, answered or not', async () => {
  for (const answer of [ANSWER, null]) {
    const other = call([boundTo('other', answer)], { resumed: 'resume' });
    await expect(other.result).rejects.toMatchObject({ code: 'IDEMPOTENCY_MISMATCH' });
  }
});
