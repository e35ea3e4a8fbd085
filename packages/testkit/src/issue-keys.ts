import { randomUUID } from 'node:crypto';
import { hashApiKey, newApiKey } from '@vat/domain';
import type { World } from './start-world.js';

/** New live keys of the world's account, or of another UUID: a test that calls in parallel needs more than one key's rate. */
export const issueKeys = async (world: Pick<World, 'sql'>, count: number, accountId?: string): Promise<string[]> => {
  const keys = Array.from({ length: count }, () => newApiKey(false));
  const rows = keys.map((key) => ({ id: randomUUID(), hash: hashApiKey(key).toString('hex'), hint: key.slice(-4) }));
  await world.sql(
    `INSERT INTO api_key (id, account_id, name, test, hash, hint, created_at)
     SELECT x.id, COALESCE($2::uuid, (SELECT id FROM account ORDER BY created_at LIMIT 1)), 'parallel', false,
       decode(x.hash, 'hex'), x.hint, now()
     FROM jsonb_to_recordset($1::jsonb) AS x(id uuid, hash text, hint text)`,
    [JSON.stringify(rows), accountId ?? null],
  );
  return keys;
};
