import type { PageUpdate } from '@vat/domain';
import { sharePageUpdates } from './share-page-updates.js';

test('an account is followed while one of the features follows it, and each gets its updates', async () => {
  const followed = new Set<string>();
  let publish: (accountId: string, updates: PageUpdate[]) => void = () => undefined;
  const subscribe = sharePageUpdates((onUpdates) => {
    publish = onUpdates;
    return {
      follow: async (accountId) => void followed.add(accountId),
      unfollow: (accountId) => void followed.delete(accountId),
      isListening: () => true,
    };
  });
  const received: string[] = [];
  const first = subscribe((accountId) => received.push(`first ${accountId}`));
  const second = subscribe((accountId) => received.push(`second ${accountId}`));
  await Promise.all([first.follow('a'), second.follow('a'), second.follow('b')]);
  publish('a', []);
  expect(received).toEqual(['first a', 'second a']);
  second.unfollow('a');
  second.unfollow('b');
  expect([...followed]).toEqual(['a']);
  first.unfollow('a');
  expect(followed.size).toBe(0);
  expect(first.isListening()).toBe(true);
});
