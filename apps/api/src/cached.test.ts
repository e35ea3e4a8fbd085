import { cached, oneReadAtATime } from './cached.js';

test('a read is shared for its time, a slow one for twenty times as long as it took, and a failed one is repeated', async () => {
  let [reads, clock] = [0, 0];
  const takes = [10, 500, -1, 10];
  const read = cached(
    async () => {
      const ms = takes[reads] ?? 0;
      reads += 1;
      if (ms < 0) throw new Error('not read');
      clock += ms;
      return reads;
    },
    2_000,
    () => clock,
  );
  const at = (ms: number) => read(new Date(ms));
  expect([await at(0), await at(1_999)]).toEqual([1, 1]);
  expect([await at(2_000), await at(11_999)]).toEqual([2, 2]);
  await expect(at(12_000)).rejects.toThrow('not read');
  expect(await at(12_001)).toBe(4);
});

describe('one read at a time', () => {
  /** Reads that end when told to, each with the number of its start. */
  const reads = () => {
    const started: { id: string; end: () => void; fail: () => void }[] = [];
    const read = oneReadAtATime(
      (id) =>
        new Promise<number>((resolve, reject) => {
          const number = started.length;
          started.push({
            id: String(id),
            end: () => resolve(number),
            fail: () => reject(new Error('not read')),
          });
        }),
    );
    return { started, get: (id: string) => read(Buffer.from(id), new Date(0)) };
  };

  test('calls that come while a key is read share the next read; other keys do not wait', async () => {
    const { started, get } = reads();
    const first = get('a');
    const later = Array.from({ length: 100 }, () => get('a'));
    const other = get('b');
    expect(started.map(({ id }) => id)).toEqual(['a', 'b']);
    started[1]?.end();
    expect(await other).toBe(1);
    started[0]?.end();
    expect(await first).toBe(0);
    expect(started).toHaveLength(3);
    started[2]?.end();
    expect(new Set(await Promise.all(later))).toEqual(new Set([2]));
    void get('a');
    expect(started).toHaveLength(4);
  });

  test('a read that fails fails for those who wait, and the next call reads again', async () => {
    const { started, get } = reads();
    const calls = [get('a'), get('a')];
    started[0]?.fail();
    for (const { status } of await Promise.allSettled(calls)) expect(status).toBe('rejected');
    const again = get('a');
    started[1]?.end();
    expect(await again).toBe(1);
  });
});
