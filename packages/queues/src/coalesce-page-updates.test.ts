import { setTimeout as pause } from 'node:timers/promises';
import { PAGE_TOPICS, type PageUpdate } from '@vat/domain';
import { until } from '@vat/testkit';
import fc from 'fast-check';
import { coalescePageUpdates } from './page-update.js';

type Sent = { accountId: string; updates: PageUpdate[]; at: number };

const startCoalescer = (everyMs: number) => {
  const sent: Sent[] = [];
  const { publish, flush } = coalescePageUpdates(everyMs, (accountId, updates) =>
    sent.push({ accountId, updates, at: performance.now() }),
  );
  return { sent, publish, flush };
};

test('updates published together are sent together, long before the interval ends', async () => {
  const { sent, publish, flush } = startCoalescer(60_000);
  publish('a', 'checks', 'chk_1');
  publish('a', 'requests', 'req_1');
  publish('a', 'watches');
  await until('the first message', () => sent.length > 0);
  expect(sent).toEqual([
    {
      accountId: 'a',
      updates: [{ topic: 'checks', id: 'chk_1' }, { topic: 'requests', id: 'req_1' }, { topic: 'watches' }],
      at: expect.any(Number),
    },
  ]);
  flush();
  expect(sent).toHaveLength(1);
});

test('ten thousand lines of a batch cause one message per interval', async () => {
  const { sent, publish, flush } = startCoalescer(100);
  const startedAt = performance.now();
  for (let line = 0; line < 10_000; line += 1) {
    publish('a', 'batches', 'bat_1');
    if (line % 100 === 0) await pause(5);
  }
  flush();
  const intervals = (performance.now() - startedAt) / 100;
  expect(sent.length).toBeGreaterThan(1);
  // The first message is sent early, and the last one by the flush.
  expect(sent.length).toBeLessThanOrEqual(intervals + 2);
  expect(new Set(sent.map(({ updates }) => JSON.stringify(updates)))).toEqual(
    new Set(['[{"topic":"batches","id":"bat_1"}]']),
  );
});

test('accounts do not delay each other', async () => {
  const { sent, publish, flush } = startCoalescer(60_000);
  publish('a', 'checks');
  await until('the updates of a', () => sent.length === 1);
  publish('a', 'checks');
  publish('b', 'checks');
  await until('the updates of b', () => sent.length === 2);
  expect(sent.map(({ accountId }) => accountId)).toEqual(['a', 'b']);
  flush();
  expect(sent.map(({ accountId }) => accountId)).toEqual(['a', 'b', 'a']);
});

test('law: each message names every changed topic of its account once, with an id only when one object changed', () => {
  const published = fc.array(
    fc.record({
      accountId: fc.constantFrom('a', 'b'),
      topic: fc.constantFrom(...PAGE_TOPICS),
      id: fc.option(fc.constantFrom('x_1', 'x_2'), { nil: undefined }),
    }),
  );
  fc.assert(
    fc.property(published, (changes) => {
      const { sent, publish, flush } = startCoalescer(60_000);
      for (const { accountId, topic, id } of changes) publish(accountId, topic, id);
      flush();
      const expected = ['a', 'b'].flatMap((accountId) => {
        const own = changes.filter((one) => one.accountId === accountId);
        const topics = [...new Set(own.map(({ topic }) => topic))];
        const updates = topics.map((topic) => {
          const ids = new Set(own.filter((one) => one.topic === topic).map(({ id }) => id));
          const [id] = ids;
          return ids.size === 1 && id !== undefined ? { topic, id } : { topic };
        });
        return updates.length === 0 ? [] : [{ accountId, updates }];
      });
      const messages = sent.map(({ accountId, updates }) => ({ accountId, updates }));
      expect(messages.sort((one, other) => one.accountId.localeCompare(other.accountId))).toEqual(expected);
    }),
  );
});
