import { issueKey, uuidOf } from '@vat/domain';

/** The parts of a test world that are needed here. */
type World<Http> = {
  http: (key: string) => Http;
  sql: (text: string, values: unknown[]) => Promise<unknown>;
};

/**
 * Issues many keys of one account; each call uses the next one. The rate limit is per key, and tests about something else must
 * not reach it. `accountId`: the public id. `test`: issues test keys.
 */
export const crowd = async <Http>(
  { http, sql }: World<Http>,
  accountId: string,
  { test = false, keys = 40 }: { test?: boolean; keys?: number } = {},
): Promise<() => Http> => {
  const issued = Array.from({ length: keys }, () => issueKey('Crowd', test));
  const account = uuidOf('account', accountId);
  await sql(
    `INSERT INTO api_key (id, account_id, name, test, hash, hint, created_at)
     SELECT k.id::uuid, $1::uuid, 'Crowd', $2, decode(k.hash, 'hex'), '', now()
     FROM unnest($3::text[], $4::text[]) AS k(id, hash)`,
    [
      account,
      test,
      issued.map(({ stored }) => stored.id),
      issued.map(({ stored }) => Buffer.from(stored.hash).toString('hex')),
    ],
  );
  let next = 0;
  return () => {
    next += 1;
    return http(issued[next % keys]?.key ?? '');
  };
};
