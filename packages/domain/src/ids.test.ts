import fc from 'fast-check';
import { ID_PREFIXES, type IdKind, newUuid, publicId, uuidOf, uuidsAt } from './ids.js';

const kinds = Object.keys(ID_PREFIXES) as IdKind[];

test('a public id leads back to its uuid, and only as its own kind', () => {
  for (const kind of kinds) {
    const uuid = newUuid();
    const id = publicId(kind, uuid);
    expect(id).toMatch(new RegExp(`^${ID_PREFIXES[kind]}_[0-7][0-9a-hjkmnp-tv-z]{25}$`));
    for (const other of kinds) expect(uuidOf(other, id)).toBe(other === kind ? uuid : null);
  }
});

test('whatever is no id of ours is null, and never throws', () => {
  fc.assert(fc.property(fc.string(), (text) => expect(uuidOf('check', text)).toBeNull()));
  for (const text of ['chk_', 'chk_01m7w2', `chk_${'8'.repeat(26)}`, `chk_${'U'.repeat(26)}`])
    expect(uuidOf('check', text)).toBeNull();
});

test('a well-formed but made-up id is a uuid or null, and never throws', () => {
  const letter = fc.constantFrom(...'0123456789abcdefghjkmnpqrstvwxyz');
  const made = fc.tuple(fc.constantFrom(...'01234567'), fc.array(letter, { minLength: 25, maxLength: 25 }));
  fc.assert(
    fc.property(made, ([first, rest]) => {
      const id = `chk_${first}${rest.join('')}`;
      const uuid = uuidOf('check', id);
      if (uuid !== null) expect(publicId('check', uuid)).toBe(id);
    }),
  );
  for (const text of ['00000000000000000000000001', '11111111111111111111111111', '0123456789abcdefghjkmnpqrs'])
    expect(uuidOf('check', `chk_${text}`)).toBeNull();
});

test('later ids sort after earlier ones', async () => {
  const ids = Array.from({ length: 200 }, newUuid);
  expect([...ids].sort()).toEqual(ids);
});

test('ids of one point in time are in the order in which they were made, and are of that time', () => {
  const newId = uuidsAt(new Date('2031-02-28T23:59:59.000Z'));
  const ids = Array.from({ length: 20_000 }, newId);
  expect([...new Set(ids)].sort()).toEqual(ids);
  const hex = (id: string | undefined) => id?.replace('-', '').slice(0, 12);
  expect(hex(ids[0])).toBe(Date.parse('2031-02-28T23:59:59.000Z').toString(16).padStart(12, '0'));
  expect(hex(ids.at(-1))).toBe(Date.parse('2031-02-28T23:59:59.004Z').toString(16).padStart(12, '0'));
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
