import { throttledWarn } from './create-logger.js';

test('a failure that comes back is told once a while, with how often it was not', () => {
  const told: unknown[] = [];
  let at = 1_000;
  const warn = throttledWarn(
    { warn: (message, fields) => told.push([message, fields?.unsaid]) },
    'Away.',
    500,
    () => new Date(at),
  );
  for (at of [1_000, 1_001, 1_499, 1_500, 1_600, 3_000]) warn(new Error('refused'));
  expect(told).toEqual([
    ['Away.', undefined],
    ['Away.', 2],
    ['Away.', 1],
  ]);
});
