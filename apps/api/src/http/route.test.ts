import { type checkSchema, presentWatch } from '@vat/contracts';
import { newUuid, type PublicId, publicId, type StoredId, uuidOf } from '@vat/domain';
import type { z } from 'zod';
import type { Routes } from './route.js';

// The types are verified by `npm run check`, which compiles the tests; at run time these functions are only created.
test('the handlers of the operations are complete, and each replies with what its operation declares', () => {
  const attempts = [
    (routes: Omit<Routes, 'getUsage'>): Routes => {
      // @ts-expect-error An operation has no handler.
      return routes;
    },
    (routes: Routes): Routes => ({
      ...routes,
      // @ts-expect-error A handler belongs to no operation.
      getUsages: routes.getUsage,
    }),
    (routes: Routes): Routes => ({
      ...routes,
      // @ts-expect-error A field of the body is missing.
      getUsage: async () => ({ status: 200, body: { period: '2026-11', plan: 'business', limit: 1, used: 1 } }),
    }),
    (routes: Routes): Routes => ({
      ...routes,
      // @ts-expect-error The operation has no such status.
      deleteWatch: async () => ({ status: 200 }),
    }),
    (routes: Routes, watch: Parameters<typeof presentWatch>[0]): Routes => ({
      ...routes,
      // @ts-expect-error The operation is not idempotent, so there are no stored bytes to send.
      getWatch: async () => ({ answer: { status: 200, headers: {}, body: presentWatch(watch) }, replayed: true }),
    }),
    (routes: Routes): Routes => ({
      ...routes,
      // @ts-expect-error The operation has a Location header.
      createBatch: async () => ({ status: 201, body: {} as never }),
    }),
    (routes: Routes): Routes => ({
      ...routes,
      // @ts-expect-error The operation declares no query.
      getCheck: async ({ query }) => query.limit,
    }),
    (routes: Routes): Routes => ({
      ...routes,
      // @ts-expect-error The operation accepts no Idempotency-Key.
      updateWatch: async ({ idempotencyOf }) => idempotencyOf({}),
    }),
  ];
  expect(attempts).toHaveLength(8);
});

test('a public id, a stored id and ids of different kinds are not interchangeable', () => {
  const uuid = newUuid();
  const check: PublicId<'check'> = publicId('check', uuid);
  const stored: StoredId<'check'> | null = uuidOf('check', check);
  expect(stored).toBe(uuid);
  const attempts = [
    // @ts-expect-error A public id is not the id of a row.
    () => publicId('check', check),
    // @ts-expect-error The row is of another kind.
    (id: StoredId<'watch'>) => publicId('check', id),
    // @ts-expect-error The public id is of another kind.
    (): PublicId<'watch'> => check,
    // @ts-expect-error A stored id is not a public one.
    (id: StoredId<'check'>): z.input<typeof checkSchema>['id'] => id,
    // @ts-expect-error Not every text is a public id.
    (): z.input<typeof checkSchema>['id'] => 'chk_01m7w2q8z5e0a9v6n3r4t7y1bc',
    // @ts-expect-error A public id is not the id of a row.
    (find: (id: StoredId<'check'>) => void) => find(check),
  ];
  expect(attempts).toHaveLength(6);
});
