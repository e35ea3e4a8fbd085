import fc from 'fast-check';
import { createKey, MAX_KEYS, type NewKey } from './account.js';
import { hashApiKey, isApiKeyForm, newApiKey } from './api-key.js';

test.each([
  ['live', false],
  ['test', true],
])('a %s key has its prefix, 30 random characters and a checksum', (mode, test) => {
  const key = newApiKey(test);
  expect(key).toMatch(new RegExp(`^vat_${mode}_[0-9A-Za-z]{36}$`));
  expect(isApiKeyForm(key)).toBe(true);
});

test('any one changed character is noticed without the database', () => {
  fc.assert(
    fc.property(fc.integer({ min: 9, max: 44 }), fc.constantFrom(...'0123456789ABCxyz'), (at, character) => {
      const key = newApiKey(false);
      const changed = key.slice(0, at) + character + key.slice(at + 1);
      expect(isApiKeyForm(changed)).toBe(changed === key);
    }),
  );
});

test('two keys never share a hash, and a hash is 32 bytes', () => {
  const hashes = new Set(Array.from({ length: 500 }, () => hashApiKey(newApiKey(false)).toString('hex')));
  expect(hashes.size).toBe(500);
  expect([...hashes][0]).toHaveLength(64);
});

test('a key beyond the limit is refused', async () => {
  const inserted: NewKey[] = [];
  const create = createKey({
    insertKey: async (_accountId, key, _now, maxKeys) => inserted.length < maxKeys && inserted.push(key) > 0,
    now: () => new Date(),
  });
  for (let n = 0; n < MAX_KEYS; n += 1) await create('account', 'Name', false);
  await expect(create('account', 'Name', false)).rejects.toMatchObject({
    code: 'KEY_LIMIT',
    extra: { limit: MAX_KEYS },
  });
});
