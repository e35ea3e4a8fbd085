import { openText, type ResealedRow, resealSecrets, type SealedStore, sealText } from './sealing.js';

const OLD = 'the key before';
const NEW = 'the key from now on';
const purpose = 'webhook secret';
const keys = { masterKey: NEW, previousKey: OLD, purpose } as const;
const boundTo = (number: number) => `account ${String(number).padStart(5, '0')}`;
const seal = (masterKey: string, id: string, text: string): Uint8Array =>
  sealText({ masterKey, purpose, boundTo: id }, text);

/** A table of sealed texts. `beforeReplace` is what other processes do between reading and writing. */
const tableOf = (rows: [string, Uint8Array][], beforeReplace: (written: number) => void = () => undefined) => {
  const table = new Map(rows);
  const writes: ResealedRow[][] = [];
  const store: SealedStore = {
    list: async (after, limit) =>
      [...table]
        .sort(([one], [other]) => (one < other ? -1 : 1))
        .filter(([id]) => after === null || id > after)
        .slice(0, limit)
        .map(([id, sealed]) => ({ boundTo: id, sealed })),
    replace: async (changes) => {
      beforeReplace(writes.length);
      writes.push(changes);
      const matching = changes.filter(
        (row) => Buffer.compare(table.get(row.boundTo) ?? Buffer.alloc(0), row.sealed) === 0,
      );
      for (const row of matching) table.set(row.boundTo, row.resealed);
      return matching.length;
    },
  };
  return { table, store, writes };
};

test('seals every text with the current key, a bounded number at a time, and a second run does nothing', async () => {
  const ids = Array.from({ length: 1_000 }, (_, number) => boundTo(number));
  const { table, store, writes } = tableOf(
    ids.map((id, at) => [id, seal(at % 4 === 0 ? NEW : OLD, id, `text of ${id}`)]),
  );
  expect(await resealSecrets(keys, store)).toEqual({ resealed: 750, unopened: [] });
  for (const [id, sealed] of table) {
    expect(openText({ masterKey: NEW, purpose, boundTo: id }, sealed)).toBe(`text of ${id}`);
  }
  expect(Math.max(...writes.map((rows) => rows.length))).toBeLessThanOrEqual(200);
  const before = new Map(table);
  expect(await resealSecrets(keys, store)).toEqual({ resealed: 0, unopened: [] });
  expect(table).toEqual(before);
});

test('a text that is changed in the meantime is not overwritten, and is resealed in its new form', async () => {
  const id = boundTo(1);
  const { table, store } = tableOf([[id, seal(OLD, id, 'before')]], (written) => {
    if (written === 0) table.set(id, seal(OLD, id, 'rotated by its owner'));
  });
  expect(await resealSecrets(keys, store)).toEqual({ resealed: 1, unopened: [] });
  expect(openText({ masterKey: NEW, purpose, boundTo: id }, table.get(id) ?? Buffer.alloc(0))).toBe(
    'rotated by its owner',
  );
});

test('a text that no key opens stays as it is and is named; the others are resealed', async () => {
  const ids = [1, 2, 3, 4].map(boundTo);
  const [lost, moved, broken, good] = ids as [string, string, string, string];
  const { table, store } = tableOf([
    [lost, seal('a third key', lost, 'lost')],
    [moved, seal(OLD, good, 'bound to another account')],
    [broken, Buffer.from('not sealed at all')],
    [good, seal(OLD, good, 'good')],
  ]);
  const before = new Map(table);
  expect(await resealSecrets(keys, store)).toEqual({ resealed: 1, unopened: [lost, moved, broken] });
  for (const id of [lost, moved, broken]) expect(table.get(id)).toBe(before.get(id));
  expect(await resealSecrets({ masterKey: NEW, purpose }, store)).toEqual({
    resealed: 0,
    unopened: [lost, moved, broken],
  });
});
