import { issueKey, uuidOf } from '@vat/domain';

/** What of a test's world is needed here; the world itself is known to tests alone. */
type Reach<Http> = {
  http: (key: string) => Http;
  sql: (text: string, values: unknown[]) => Promise<unknown>;
};

/**
 * More keys of one account than a test can wear out: every call takes the next one. The rate limit is a key's, and a
 * test about something else must not run into it. `accountId` is public; `test` makes them test keys.
 */
export const crowd = async <Http>(
  { http, sql }: Reach<Http>,
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
