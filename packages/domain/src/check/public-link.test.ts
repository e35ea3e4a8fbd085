import fc from 'fast-check';
import { newUuid, publicId, type StoredId } from '../ids.js';
import { resealSecrets, type SealedStore } from '../sealing.js';
import { openPublicLinkKey, PUBLIC_LINK_SEAL, publicLinks } from './public-link.js';

const newCheck = () => newUuid() as StoredId<'check'>;
const lastPart = (path: string) => path.replace(/^\/verify\//, '');
const links = publicLinks(() => Promise.resolve(new Uint8Array(32).fill(7)));

test('a link names its check, and has a token of 144 bits', async () => {
  const id = newCheck();
  const path = await links.pathOf(id);
  expect(path).toMatch(/^\/verify\/chk_[0-9a-z]{26}\.[\w-]{24}$/);
  expect(path).toContain(`/${publicId('check', id)}.`);
  expect(await links.checkOf(lastPart(path))).toBe(id);
});

test('a token opens no other check', async () => {
  const [one, other] = [newCheck(), newCheck()];
  const [, token] = (await links.pathOf(one)).split('.');
  expect(await links.checkOf(`${publicId('check', other)}.${token}`)).toBeNull();
});

test('any other text in place of the token opens nothing', async () => {
  const id = newCheck();
  const right = lastPart(await links.pathOf(id));
  const [, token = ''] = right.split('.');
  const position = fc.nat({ max: token.length - 1 });
  const character = fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_');
  await fc.assert(
    fc.asyncProperty(position, character, async (at, other) => {
      const changed = `${token.slice(0, at)}${other}${token.slice(at + 1)}`;
      return (await links.checkOf(`${publicId('check', id)}.${changed}`)) === (changed === token ? id : null);
    }),
  );
  for (const text of ['', publicId('check', id), `${right}A`, right.slice(0, -1), `${right}.json`, right.toUpperCase()])
    expect(await links.checkOf(text)).toBeNull();
});

test('a key that cannot be read is no wrong token, and is read only for a link with the form of one', async () => {
  const unreadable = publicLinks(() => Promise.reject(new Error('Postgres is away')));
  const id = newCheck();
  await expect(unreadable.pathOf(id)).rejects.toThrow('Postgres is away');
  await expect(unreadable.checkOf(lastPart(await links.pathOf(id)))).rejects.toThrow('Postgres is away');
  expect(await unreadable.checkOf('nonsense')).toBeNull();
});

const OLD = 'the key before the change';
const NEW = 'the key from now on';
const NOW = new Date();

/** A row for a key, as all processes of a deployment see it. */
const openRow = () => {
  let row: Uint8Array | null = null;
  const find = () => Promise.resolve(row);
  const store = async (sealed: Uint8Array) => {
    row ??= sealed;
  };
  const sealed: SealedStore = {
    list: async () => (row ? [{ boundTo: PUBLIC_LINK_SEAL.boundTo, sealed: row }] : []),
    replace: async ([{ resealed } = {}]) => {
      row = resealed ?? row;
      return 1;
    },
  };
  const open = (masterKey: string, previousKey?: string) =>
    openPublicLinkKey({ find, store, masterKey, previousKey })(NOW);
  return { find, sealed, open };
};

test('processes that need the key at the same time make one, of 256 bits', async () => {
  const { open } = openRow();
  const [one, other] = await Promise.all([open(OLD), open(OLD)]);
  expect(one).toHaveLength(32);
  expect(other).toEqual(one);
  expect(await open(OLD)).toEqual(one);
  expect(await openRow().open(OLD)).not.toEqual(one);
});

test('the key outlives any number of changes of SECRET_KEY', async () => {
  const { open, sealed } = openRow();
  const key = await open(OLD);
  let previousKey = OLD;
  for (const masterKey of [NEW, 'the key after that one', 'the key of next year']) {
    expect(await open(masterKey, previousKey)).toEqual(key);
    const keys = { masterKey, previousKey, purpose: PUBLIC_LINK_SEAL.purpose };
    expect(await resealSecrets(keys, sealed)).toEqual({ resealed: 1, unopened: [] });
    expect(await open(masterKey)).toEqual(key);
    previousKey = masterKey;
  }
});

test('a key that no SECRET_KEY opens is not replaced, and the error says what to do', async () => {
  const { open, find } = openRow();
  await open(OLD);
  const stored = await find();
  await expect(open(NEW)).rejects.toThrow(
    'Neither SECRET_KEY nor SECRET_KEY_PREVIOUS opens the key of public links. Set SECRET_KEY_PREVIOUS to the key that sealed it and run admin secrets reseal.',
  );
  expect(await find()).toBe(stored);
});
