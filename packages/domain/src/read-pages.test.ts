import { readPages } from './read-pages.js';

type Page = { rows: number[]; next: number | null };

/** Pages of two rows of five. `reads`: the positions that were read. */
const open = (failAt?: number) => {
  const reads: (number | null)[] = [];
  const read = async (after: number | null): Promise<Page> => {
    reads.push(after);
    const from = after ?? 0;
    if (from === failAt) throw new Error(`no page after ${from}`);
    const rows = [0, 1, 2, 3, 4].slice(from, from + 2);
    return { rows, next: from + 2 < 5 ? from + 2 : null };
  };
  return { reads, pages: readPages(read) };
};

test('every page is read once, each while the caller works on the one before', async () => {
  const { reads, pages } = open();
  const seen: [number[], (number | null)[]][] = [];
  for await (const { rows } of pages) seen.push([rows, [...reads]]);
  expect(seen).toEqual([
    [
      [0, 1],
      [null, 2],
    ],
    [
      [2, 3],
      [null, 2, 4],
    ],
    [[4], [null, 2, 4]],
  ]);
});

test('a page that cannot be read fails after the pages before it', async () => {
  const { pages } = open(2);
  expect(await pages.next()).toMatchObject({ value: { rows: [0, 1] } });
  await expect(pages.next()).rejects.toThrow('no page after 2');
});

test('a caller that stops early is not disturbed by the page it does not want', async () => {
  const { pages } = open(2);
  for await (const { rows } of pages) {
    expect(rows).toEqual([0, 1]);
    break;
  }
});
