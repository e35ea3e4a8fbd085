import { existsSync, readFileSync } from 'node:fs';
import { FAULT_ROWS, filesOf, testsOf } from './rows.mjs';

test('every row has tests: its files exist, and titles that it selects are in them', () => {
  expect(FAULT_ROWS.map(({ number }) => number)).toEqual(FAULT_ROWS.map((_row, n) => n + 1));
  for (const file of filesOf(FAULT_ROWS)) expect([file, existsSync(file)]).toEqual([file, true]);
  for (const { number, tests } of FAULT_ROWS) {
    expect([number, tests.length > 0]).toEqual([number, true]);
    for (const test of tests) {
      if (typeof test === 'string') continue;
      expect([...test, readFileSync(test[0], 'utf8').includes(test[1])]).toEqual([...test, true]);
    }
  }
});

test('a selection of which no test ran is reported', () => {
  const row = { number: 1, fault: '', passes: '', tests: ['a.test.ts', ['b.test.ts', 'one']] as const };
  const [a, one] = [
    { file: 'a.test.ts', title: 'x' },
    { file: 'b.test.ts', title: 'group one' },
  ];
  expect(testsOf(row, [a, one])).toEqual({ tests: [a, one], without: [] });
  expect(testsOf(row, [a, { file: 'b.test.ts', title: 'two' }])).toEqual({ tests: [a], without: ['b.test.ts: one'] });
});
