import { throttledWarn } from './create-logger.js';

test('a recurring failure is logged once per interval, with the number of suppressed lines', () => {
  const logged: unknown[] = [];
  let at = 1_000;
  const warn = throttledWarn(
    { warn: (message, fields) => logged.push([message, fields?.unsaid]) },
    'Away.',
    () => new Date(at),
    500,
  );
  for (at of [1_000, 1_001, 1_499, 1_500, 1_600, 3_000]) warn(new Error('refused'));
  expect(logged).toEqual([
    ['Away.', undefined],
    ['Away.', 2],
    ['Away.', 1],
  ]);
});

test('a clock that is set back does not silence a failure', () => {
  const logged: unknown[] = [];
  let at = 3_600_000;
  const warn = throttledWarn({ warn: (message) => logged.push(message) }, 'Away.', () => new Date(at), 500);
  for (at of [3_600_000, 1_000, 1_001, 1_500]) warn(new Error('refused'));
  expect(logged).toEqual(['Away.', 'Away.', 'Away.']);
});
