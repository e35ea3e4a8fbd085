import { localDate } from './register-fields.js';

test('returns the day of the register, which begins before that of UTC', () => {
  const at = new Date('2026-11-20T23:30:00.000Z');
  expect(localDate(at, 'Europe/Warsaw')).toBe('2026-11-21');
  expect(localDate(at, 'UTC')).toBe('2026-11-20');
  expect(localDate(new Date('2026-07-01T21:30:00.000Z'), 'Europe/Bucharest')).toBe('2026-07-02');
});
