/** The JSON text of an event of typical size (about 0.9 KiB): a completed check with its trader and its entries. */
export const exampleBody = (id: string): string =>
  JSON.stringify({
    event: 'check.completed',
    request_id: id,
    check: {
      id,
      vat_number: 'DE136695976',
      status: 'valid',
      checked_at: '2026-11-20T10:00:00.000Z',
      trader: { name: 'Example Trading Company GmbH', address: 'Musterstrasse 1, 12345 Musterstadt' },
      entries: Array.from({ length: 4 }, (_, n) => ({
        source: `source-${n}`,
        outcome: 'found',
        detail: 'x'.repeat(110),
      })),
    },
  });
