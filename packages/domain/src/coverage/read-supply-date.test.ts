import fc from 'fast-check';
import { isDateLike, readSupplyDate, supplyDateOf } from './read-supply-date.js';

test.each([
  ['2026-12-31', '2026-12-31'],
  ['2026/12/31', '2026-12-31'],
  ['2026.12.31.', '2026-12-31'],
  ['2026. 12. 31.', '2026-12-31'],
  ['20261231', '2026-12-31'],
  ['2026-12-31T23:59:59.999Z', '2026-12-31'],
  ['2026-12-31 08:15', '2026-12-31'],
  ['31.12.2026', '2026-12-31'],
  ['31/12/2026', '2026-12-31'],
  ['31-12-2026', '2026-12-31'],
  ['31. 12. 2026', '2026-12-31'],
  ['31.12.2026 00:00:00', '2026-12-31'],
  ['31.12.2026 г.', '2026-12-31'],
  ['31.12.2026\u00a0г. 08:15:00', '2026-12-31'],
  ['31.12.26', '2026-12-31'],
  ['1/2/26', '2026-02-01'],
  ['  3.4.2026 ', '2026-04-03'],
  ['29.02.2024', '2024-02-29'],
])('%s is %s', (text, date) => {
  expect(readSupplyDate(text)).toEqual({ kind: 'date', date });
  expect(isDateLike(text)).toBe(true);
});

test('eight digits are read day first only when they cannot be read year first', () => {
  expect(readSupplyDate('01102026')).toEqual({ kind: 'date', date: '2026-10-01' });
  expect(readSupplyDate('20102026')).toEqual({ kind: 'date', date: '2026-10-20' });
  expect(readSupplyDate('20121012')).toEqual({ kind: 'date', date: '2012-10-12' });
  expect(readSupplyDate('31112026')).toMatchObject({ reason: expect.stringMatching(/not a date of the calendar/) });
  expect(readSupplyDate('1102026')).toMatchObject({ kind: 'unreadable' });
  // A column of such numbers without a name may be anything.
  expect(isDateLike('01102026')).toBe(false);
});

test('the position decides what is the month, never the values', () => {
  expect(readSupplyDate('03/04/2026')).toEqual({ kind: 'date', date: '2026-04-03' });
  expect(readSupplyDate('12/11/2026')).toEqual({ kind: 'date', date: '2026-11-12' });
});

test.each([
  ['12/31/2026', /month first, as in the USA/],
  ['12.31.26', /month first/],
  ['26-12-31', /two digits/],
  ['31.11.2026', /not a date of the calendar/],
  ['29.02.2026', /not a date of the calendar/],
  ['2026-13-01', /not a date of the calendar/],
  ['31.12.1926', /before 1993/],
  ['31/12.2026', /is not a date/],
  ['46387', /is a number.*date format/],
  ['46387.5', /is a number.*date format/],
  ['463870', /is not a date/],
  ['Dec 31, 2026', /is not a date/],
  ['', /no supply date/],
])('%j is refused', (text, reason) => {
  expect(readSupplyDate(text)).toEqual({ kind: 'unreadable', reason: expect.stringMatching(reason) });
});

test('every day of the calendar is read alike in every notation', () => {
  const days = fc.date({ min: new Date('1993-01-01'), max: new Date('2099-12-31'), noInvalidDate: true });
  fc.assert(
    fc.property(days, fc.constantFrom('.', '/', '-'), (at, separator) => {
      const date = at.toISOString().slice(0, 10);
      const [year, month, day] = date.split('-');
      const texts = [
        date,
        [day, month, year].join(separator),
        [year, month, day].join(separator),
        `${year}${month}${day}`,
      ];
      for (const text of texts) expect(readSupplyDate(text)).toEqual({ kind: 'date', date });
    }),
  );
});

test('a year of two digits that lies far back is most likely the day, and is refused', () => {
  const read = (supplyDate: string) => supplyDateOf({ line: 7, supplyDate }, new Date('2026-11-29'));
  expect(() => read('26/01/05')).toThrow(
    /^Line 7: “26\/01\/05” is read as 2005-01-26; write its year with four digits\./,
  );
  expect(read('26/01/15')).toBe('2015-01-26');
  expect(read('26/01/2005')).toBe('2005-01-26');
});
