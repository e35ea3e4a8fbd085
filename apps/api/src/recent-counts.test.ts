import { shortMemory } from './cached.js';
import { recentCounts } from './fair-queue.js';

const at = (ms: number) => new Date(ms);

test('a recent count halves after its half-life and is never negative', () => {
  const counts = recentCounts({ max: 10, halfLifeMs: 1_000 });
  counts.add('a', 4, at(0));
  expect(counts.read('a', at(0))).toBe(4);
  expect(counts.read('a', at(1_000))).toBe(2);
  counts.add('a', 1, at(2_000));
  expect(counts.read('a', at(2_000))).toBe(2);
  counts.add('a', -9, at(2_000));
  expect([counts.read('a', at(2_000)), counts.read('unknown', at(0))]).toEqual([0, 0]);
});

test('counts and caches store a limited number of keys and evict the oldest one', () => {
  const counts = recentCounts({ max: 100, halfLifeMs: 1_000 });
  const cache = shortMemory<number>({ max: 100, ms: 1_000 });
  for (let n = 0; n < 10_000; n += 1) {
    counts.add('steady', 1, at(0));
    counts.add(`network ${n}`, 1, at(0));
    cache.set(`network ${n}`, n, at(0));
  }
  const held = (has: (key: string) => boolean) =>
    Array.from({ length: 10_000 }, (_, n) => `network ${n}`).filter(has).length;
  expect(held((key) => counts.read(key, at(0)) > 0)).toBe(99);
  expect(counts.read('steady', at(0))).toBe(10_000);
  expect(held((key) => cache.find(key, at(0)) !== undefined)).toBe(100);
  expect(cache.find('network 9999', at(999))).toBe(9_999);
  expect(cache.find('network 9999', at(1_000))).toBeUndefined();
});
