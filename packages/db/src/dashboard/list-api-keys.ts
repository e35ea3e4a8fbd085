import type { Database } from '../connect-database.js';

/** What is shown of a key. `hint`: its last four characters. */
export type ApiKeySummary = {
  id: string;
  name: string;
  test: boolean;
  hint: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
};

/** Keys of an account before `beforeId`, newest first, revoked ones too. Ids are time-ordered. */
export const listApiKeys =
  (db: Database) =>
  (accountId: string, beforeId: string | null, limit: number): Promise<ApiKeySummary[]> =>
    db.apiKey.findMany({
      where: { accountId, ...(beforeId ? { id: { lt: beforeId } } : {}) },
      orderBy: { id: 'desc' },
      take: limit,
      select: { id: true, name: true, test: true, hint: true, createdAt: true, lastUsedAt: true, revokedAt: true },
    });
