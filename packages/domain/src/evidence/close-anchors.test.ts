import { type ClosedAnchor, closeAnchors } from './close-anchors.js';

const now = () => new Date('2026-11-22T10:00:00.000Z');
const anchorOf = (seq: number): ClosedAnchor => ({ id: `anchor ${seq}`, seq, treeSize: 2, closedAt: now() });

/** Closes `count` anchors, and records what the use case reports. */
const open = (count: number, enqueueStamp: () => Promise<void> = async () => undefined) => {
  const closed: number[] = [];
  const failures: unknown[] = [];
  const close = closeAnchors({
    closeNext: async () =>
      closed.length < count
        ? { kind: 'closed', anchor: anchorOf(closed.length + 1), more: closed.length + 1 < count }
        : { kind: 'nothing' },
    enqueueStamp,
    onClosed: ({ seq }) => void closed.push(seq),
    onEnqueueFailure: (_anchor, error) => void failures.push(error),
    now,
  });
  return { close, closed, failures };
};

test('closes anchors until no leaf is left', async () => {
  const { close, closed } = open(3);
  expect(await close(new AbortController().signal)).toBe(true);
  expect(closed).toEqual([1, 2, 3]);
});

test('a stop before the end is reported', async () => {
  const { close, closed } = open(3);
  expect(await close(AbortSignal.abort())).toBe(false);
  expect(closed).toEqual([]);
});

test('a time-stamp that is not enqueued does not stop the closing', async () => {
  const failure = new Error('Redis is away');
  const { close, closed, failures } = open(2, () => Promise.reject(failure));
  expect(await close(new AbortController().signal)).toBe(true);
  expect([closed, failures]).toEqual([
    [1, 2],
    [failure, failure],
  ]);
});
