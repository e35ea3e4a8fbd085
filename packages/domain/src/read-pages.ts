/**
 * Reads pages one after another until the one that names no next one, each while the caller works on the page before. `read`
 * returns the page after a position; null: the first.
 */
export async function* readPages<Cursor, Page extends { next: Cursor | null }>(
  read: (after: Cursor | null) => Promise<Page>,
): AsyncGenerator<Page, void> {
  for (let coming = read(null); ; ) {
    const page = await coming;
    if (page.next === null) {
      yield page;
      return;
    }
    coming = read(page.next);
    // Its error is thrown when the page is wanted, which is never when the caller stops before.
    coming.catch(() => undefined);
    yield page;
  }
}
