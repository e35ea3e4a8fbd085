import type { Queryable } from './connect-database.js';

/** Resolves when Postgres answers; throws otherwise. */
export const pingDatabase = (db: Queryable) => async (): Promise<void> => {
  await db.$queryRaw`SELECT 1`;
};
