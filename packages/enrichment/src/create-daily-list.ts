import { type RecordedCall, readJson } from '@vat/outgoing';
import type { DailyList } from './source-definition.js';

const CACHE_MS = 86_400_000;

/** After a failure the list is not requested for this long, so that not every check waits for it. */
const RETRY_AFTER_FAILURE_MS = 600_000;

type DailyListDeps = {
  definition: DailyList;
  call: () => Promise<RecordedCall>;
  now: () => Date;
};

/** Returns the list, or null while it cannot be read. Concurrent callers share one call. Never rejects. */
export const createDailyList = ({
  definition,
  call,
  now,
}: DailyListDeps): (() => Promise<readonly string[] | null>) => {
  let cached: { list: Promise<readonly string[] | null>; until: number } | null = null;

  const read = async (): Promise<readonly string[] | null> => {
    const { response } = await call();
    const list = response?.complete && response.status === 200 ? definition.read(readJson(response.body)) : null;
    if (list === null && cached) cached.until = now().getTime() + RETRY_AFTER_FAILURE_MS;
    return list;
  };

  return () => {
    const at = now().getTime();
    if (cached === null || at >= cached.until) cached = { list: read(), until: at + CACHE_MS };
    return cached.list;
  };
};
