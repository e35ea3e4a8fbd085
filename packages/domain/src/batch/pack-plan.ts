import type { DispatchQueue, PackedPlan } from './batch.js';
import type { BatchPlan } from './plan-batch.js';

/** Rows of one statement, which then takes a small part of the time limit. A single row may have more characters. */
const MAX_TEXT = { rows: 250, characters: 400_000 };

/** JSON arrays of at most {@link MAX_TEXT}. */
const packRows = (rows: readonly object[]): string[] => {
  const texts: string[] = [];
  let open: string[] = [];
  let characters = 0;
  const close = (): void => {
    if (open.length > 0) texts.push(`[${open.join(',')}]`);
    open = [];
    characters = 0;
  };
  for (const row of rows) {
    const text = JSON.stringify(row);
    if (open.length === MAX_TEXT.rows || characters + text.length > MAX_TEXT.characters) close();
    open.push(text);
    characters += text.length;
  }
  close();
  return texts;
};

const queuesOf = (requests: BatchPlan['requests']): PackedPlan['queues'] => {
  const counts = new Map<DispatchQueue, number>();
  for (const { memberState, answer } of requests) {
    const queue = answer === null ? memberState : 'malformed';
    counts.set(queue, (counts.get(queue) ?? 0) + 1);
  }
  return [...counts].map(([queue, n]) => ({ queue, requests: n }));
};

/** Packs a plan for the database. Like planning it, this must not run in a thread that serves callers. */
export const packPlan = ({ lines, requests }: BatchPlan): PackedPlan => ({
  lines: packRows(lines),
  requests: packRows(requests),
  counts: {
    lines: lines.length,
    failed: lines.filter(({ error }) => error !== null).length,
    costing: requests.filter(({ answer }) => answer === null).length,
  },
  queues: queuesOf(requests),
});
