import type { SourceCall } from './call-source.js';
import type { DailyList } from './source-definition.js';

/** A list that was read is used for this long. */
const USED_FOR_MS = 86_400_000;

/** After a failure the list is not tried again for this long, so that not every question waits for it. */
const NOT_TRIED_FOR_MS = 600_000;

type DailyListDeps = {
  definition: DailyList;
  call: (path: string) => Promise<SourceCall>;
  now: () => Date;
};

const parse = (body: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return null;
  }
};

/** Gives the list, or null while it cannot be had. Questions at the same time share one call; it never rejects. */
export const createDailyList = ({
  definition,
  call,
  now,
}: DailyListDeps): (() => Promise<readonly string[] | null>) => {
  let kept: { list: Promise<readonly string[] | null>; until: number } | null = null;

  const read = async (): Promise<readonly string[] | null> => {
    const { exchange } = await call(definition.path);
    const { response } = exchange;
    const list = response?.complete && response.status === 200 ? definition.read(parse(response.body)) : null;
    if (list === null && kept) kept.until = now().getTime() + NOT_TRIED_FOR_MS;
    return list;
  };

  return () => {
    const at = now().getTime();
    if (kept === null || at >= kept.until) kept = { list: read(), until: at + USED_FOR_MS };
    return kept.list;
  };
};
