/** Reads rows in pages until the last one. `read` returns the next `limit` rows after a row, from the first one for `null`. */
export async function* readPages<Row>(
  read: (after: Row | null, limit: number) => Promise<Row[]>,
  limit: number,
): AsyncGenerator<Row[], void> {
  for (let after: Row | null = null; ; ) {
    const page: Row[] = await read(after, limit);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (page.length < limit) return;
    after = last;
  }
}
