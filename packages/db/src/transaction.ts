import type { Database, Queryable } from './connect-database.js';

/** Carries the result of a transaction that is rolled back. */
class RolledBack extends Error {
  constructor(readonly result: unknown) {
    super('the transaction was rolled back');
  }
}

/** Rolls the transaction back and makes `result` its result. */
export type Refuse<T> = (result: T) => never;

/** Runs `work` in a transaction. `timeout`: of the whole transaction, in milliseconds. */
export const transact = async <T>(
  db: Database,
  work: (tx: Queryable, refuse: Refuse<T>) => Promise<T>,
  options?: { timeout: number },
): Promise<T> => {
  const refuse: Refuse<T> = (result) => {
    throw new RolledBack(result);
  };
  try {
    return await db.$transaction((tx) => work(tx, refuse), options);
  } catch (error) {
    if (error instanceof RolledBack) return error.result as T;
    throw error;
  }
};
