import fc from 'fast-check';
import { ID_PREFIXES, type IdKind, newUuid, publicId, uuidOf } from './ids.js';

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

test('ids of later moments sort after earlier ones', async () => {
  const ids = Array.from({ length: 200 }, newUuid);
  expect([...ids].sort()).toEqual(ids);
});
