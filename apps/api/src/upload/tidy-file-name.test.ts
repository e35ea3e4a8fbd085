import { anyText } from '@vat/testkit/any-text';
import fc from 'fast-check';
import { tidyFileName } from './read-multipart.js';

test.each([
  ['Kunden.csv', 'Kunden.csv'],
  ['  Kunden 2026.csv ', 'Kunden 2026.csv'],
  ['C:\\Users\\me\\Kunden.csv', 'Kunden.csv'],
  ['/home/me/Kunden.csv', 'Kunden.csv'],
  ['a\r\nb\0c.csv', 'abc.csv'],
  ['fdp\u202evsc.csv', 'fdpvsc.csv'],
  ['Καταλογος €.csv', 'Καταλογος €.csv'],
  [undefined, null],
  ['', null],
  ['..', null],
  ['folder/', null],
])('%j is stored as %j', (given, stored) => {
  expect(tidyFileName(given)).toBe(stored);
});

test('a long name retains its extension', () => {
  const name = tidyFileName(`${'x'.repeat(400)}.csv`);
  expect(name).toHaveLength(255);
  expect(name).toMatch(/x\.csv$/);
});

test('any stored name is short, well-formed and without folders, and tidying it again does not change it', () => {
  fc.assert(
    fc.property(anyText({ maxLength: 600 }), (given) => {
      const name = tidyFileName(given);
      if (name === null) return;
      expect(name.length).toBeLessThanOrEqual(255);
      expect(name.isWellFormed()).toBe(true);
      expect(name).not.toMatch(/[/\\\p{Cc}\p{Cf}]/u);
      expect(tidyFileName(name)).toBe(name);
    }),
  );
});
