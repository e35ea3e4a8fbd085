import { setTimeout as pause } from 'node:timers/promises';
import { PAGE_TOPICS, type PageUpdate } from '@vat/domain';
import { until } from '@vat/testkit';
import fc from 'fast-check';
import { coalescePageUpdates } from './page-update.js';

type Sent = { accountId: string; news: PageUpdate[]; at: number };

const gatherer = (everyMs: number) => {
  const sent: Sent[] = [];
  return {
    sent,
    ...coalescePageUpdates(everyMs, (accountId, news) => sent.push({ accountId, news, at: performance.now() })),
  };
};

test('what is told together goes out together, long before the interval is over', async () => {
  const { sent, tell, flush } = gatherer(60_000);
  tell('a', 'checks', 'chk_1');
  tell('a', 'requests', 'req_1');
  tell('a', 'watches');
  await until('the first message', () => sent.length > 0);
  expect(sent).toEqual([
    {
      accountId: 'a',
      news: [{ topic: 'checks', id: 'chk_1' }, { topic: 'requests', id: 'req_1' }, { topic: 'watches' }],
      at: expect.any(Number),
    },
  ]);
  flush();
  expect(sent).toHaveLength(1);
});

test('ten thousand lines of a batch make a message an interval', async () => {
  const { sent, tell, flush } = gatherer(100);
  const startedAt = performance.now();
  for (let line = 0; line < 10_000; line += 1) {
    tell('a', 'batches', 'bat_1');
    if (line % 100 === 0) await pause(5);
  }
  flush();
  const intervals = (performance.now() - startedAt) / 100;
  expect(sent.length).toBeGreaterThan(1);
  // The first one is early, and the last one is flushed.
  expect(sent.length).toBeLessThanOrEqual(intervals + 2);
  expect(new Set(sent.map(({ news }) => JSON.stringify(news)))).toEqual(
    new Set(['[{"topic":"batches","id":"bat_1"}]']),
  );
});

test('one account waits for no other', async () => {
  const { sent, tell, flush } = gatherer(60_000);
  tell('a', 'checks');
  await until('the news of a', () => sent.length === 1);
  tell('a', 'checks');
  tell('b', 'checks');
  await until('the news of b', () => sent.length === 2);
  expect(sent.map(({ accountId }) => accountId)).toEqual(['a', 'b']);
  flush();
  expect(sent.map(({ accountId }) => accountId)).toEqual(['a', 'b', 'a']);
});

test('law: whatever is told, every account hears of every topic once a message, with an id only where it was one', () => {
  const tellings = fc.array(
    fc.record({
      accountId: fc.constantFrom('a', 'b'),
      topic: fc.constantFrom(...PAGE_TOPICS),
      id: fc.option(fc.constantFrom('x_1', 'x_2'), { nil: undefined }),
    }),
  );
  fc.assert(
    fc.property(tellings, (told) => {
      const { sent, tell, flush } = gatherer(60_000);
      for (const { accountId, topic, id } of told) tell(accountId, topic, id);
      flush();
      const expected = ['a', 'b'].flatMap((accountId) => {
        const own = told.filter((one) => one.accountId === accountId);
        const topics = [...new Set(own.map(({ topic }) => topic))];
        const news = topics.map((topic) => {
          const ids = new Set(own.filter((one) => one.topic === topic).map(({ id }) => id));
          const [id] = ids;
          return ids.size === 1 && id !== undefined ? { topic, id } : { topic };
        });
        return news.length === 0 ? [] : [{ accountId, news }];
      });
      const bySender = sent.map(({ accountId, news }) => ({ accountId, news }));
      expect(bySender.sort((one, other) => one.accountId.localeCompare(other.accountId))).toEqual(expected);
    }),
  );
});
