import type { LookupOutcome } from '@vat/domain';
import { createPacing } from './upstreams.js';

const start = () => {
  let ms = 0;
  const pacing = createPacing(() => ms);
  const holdAt = (to: number) => {
    ms = to;
    return pacing.holdMs();
  };
  return { pacing, holdAt };
};
const outcome = (scope: 'global' | 'member_state' | 'request', ms: number): LookupOutcome => ({
  kind: 'rejected',
  code: 'INVALID_INPUT',
  retryAfter: { ms, scope },
});

test.each([
  ['global', 60_000],
  ['member_state', 0],
  ['request', 0],
] as const)('a Retry-After of scope %s holds the lookups of a process back for %d ms', (scope, held) => {
  const { pacing, holdAt } = start();
  pacing.note(outcome(scope, 60_000));
  expect(holdAt(0)).toBe(held);
  expect(holdAt(60_000)).toBe(0);
});

test('a shorter wait does not end a longer one', () => {
  const { pacing, holdAt } = start();
  pacing.note(outcome('global', 9_000));
  pacing.note(outcome('global', 1_000));
  expect(holdAt(5_000)).toBe(4_000);
  expect(holdAt(5_000.25)).toBe(4_000);
});
