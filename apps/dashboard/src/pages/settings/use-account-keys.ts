import type { UseInfiniteQueryResult } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { ApiKey } from '../../api/shapes.js';
import { usePages } from '../../api/use-pages.js';

type AccountKeys = {
  keys: UseInfiniteQueryResult<ApiKey[]>;
  /** What works or did so when the page was opened, the newest first; after it what was revoked earlier that day. */
  shown: ApiKey[];
  /** What was revoked on an earlier day. */
  folded: ApiKey[];
};

/** The most that a page of a list has. */
const PAGE = 100;

/** Keys are nobody's news, and the operator makes and revokes them too. */
const LOOK_EVERY_MS = 4_000;

/** All keys of the account: nobody knows which of a first page's are live until the rest is there. */
export const useAccountKeys = (): AccountKeys => {
  const keys = usePages<ApiKey>('keys', '/keys', { limit: PAGE }, LOOK_EVERY_MS);
  const { data = [], hasNextPage, isFetching, isError, fetchNextPage } = keys;
  useEffect(() => {
    if (hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [hasNextPage, isFetching, isError, fetchNextPage]);

  const [today] = useState(() => new Date().setHours(0, 0, 0, 0));
  // A row that left its place when it is revoked would put another key's Revoke under the pointer.
  const [staying] = useState(() => new Set<string>());
  for (const { key_id, revoked_at } of data) if (revoked_at === null) staying.add(key_id);
  const gone = data.filter(({ key_id }) => !staying.has(key_id));
  const isOld = ({ revoked_at }: ApiKey) => revoked_at !== null && Date.parse(revoked_at) < today;
  return {
    keys,
    shown: [...data.filter(({ key_id }) => staying.has(key_id)), ...gone.filter((key) => !isOld(key))],
    folded: gone.filter(isOld),
  };
};
