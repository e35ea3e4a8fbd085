import { createPacing } from './upstreams.js';

const start = () => {
  let ms = 0;
  const pacing = createPacing(() => new Date(ms));
  const at = (to: number) => {
    ms = to;
    return [pacing.holdMs('DE'), pacing.holdMs('FR')];
  };
  return { pacing, at };
};

test.each([
  ['global', [60_000, 60_000]],
  ['member_state', [60_000, 0]],
  ['request', [0, 0]],
] as const)('a Retry-After of scope %s holds back its lookups until it is over', (scope, held) => {
  const { pacing, at } = start();
  pacing.noteRetryAfter('DE', { ms: 60_000, scope });
  expect(at(0)).toEqual(held);
  expect(at(60_000)).toEqual([0, 0]);
});

test('a shorter wait does not end a longer one', () => {
  const { pacing, at } = start();
  pacing.noteRetryAfter('DE', { ms: 9_000, scope: 'global' });
  pacing.noteRetryAfter('DE', { ms: 1_000, scope: 'global' });
  expect(at(5_000)).toEqual([4_000, 4_000]);
});
