/** Reads pages one after another until the one that names no next one. `read` returns the page after a position; null: the first. */
export async function* readPages<Cursor, Page extends { next: Cursor | null }>(
  read: (after: Cursor | null) => Promise<Page>,
): AsyncGenerator<Page, void> {
  for (let after: Cursor | null = null; ; ) {
    const page: Page = await read(after);
    yield page;
    if (page.next === null) return;
    after = page.next;
  }
}
