import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DispatchQueue, NewBatchRequest, NewLine, PackedPlan } from './batch.js';
import type { BatchPlan } from './plan-batch.js';

/** Rows of one statement, which then takes a small part of the time limit. A single row may have more characters. */
const MAX_TEXT = { rows: 250, characters: 400_000 };

/** Packs rows into JSON arrays of at most {@link MAX_TEXT}; each row is serialized only when it is needed. */
export function* packRows<Row>(rows: readonly Row[], serialize: (row: Row) => string): Generator<string> {
  let open: string[] = [];
  let characters = 0;
  for (const row of rows) {
    const text = serialize(row);
    if (open.length === MAX_TEXT.rows || (open.length > 0 && characters + text.length > MAX_TEXT.characters)) {
      yield `[${open.join(',')}]`;
      open = [];
      characters = 0;
    }
    open.push(text);
    characters += text.length;
  }
  if (open.length > 0) yield `[${open.join(',')}]`;
}

const queuesOf = (requests: BatchPlan['requests']): PackedPlan['queues'] => {
  const counts = new Map<DispatchQueue, number>();
  for (const { memberState, answer } of requests) {
    const queue = answer === null ? memberState : 'malformed';
    counts.set(queue, (counts.get(queue) ?? 0) + 1);
  }
  return [...counts].map(([queue, n]) => ({ queue, requests: n }));
};

/** What rows cost and where they wait. */
const countRows = ({ lines, requests }: BatchPlan): Pick<PackedPlan, 'counts' | 'queues'> => ({
  counts: {
    lines: lines.length,
    failed: lines.filter(({ error }) => error !== null).length,
    costing: requests.filter(({ answer }) => answer === null).length,
  },
  queues: queuesOf(requests),
});

/** Packs a plan for the database. Like planning it, this must not run in a thread that serves callers. */
export const packPlan = (plan: BatchPlan): PackedPlan => ({
  lines: [...packRows(plan.lines, JSON.stringify)],
  requests: [...packRows(plan.requests, JSON.stringify)],
  ...countRows(plan),
});

/** The rows of each text that `isWanted` accepts, one text a turn of the event loop. Texts without such rows are left out. */
const selectRows = async <Row extends object>(
  texts: readonly string[],
  isWanted: (row: Row) => boolean,
): Promise<{ texts: string[]; rows: Row[] }> => {
  const selected: { texts: string[]; rows: Row[] } = { texts: [], rows: [] };
  for (const text of texts) {
    const rows = (JSON.parse(text) as Row[]).filter(isWanted);
    if (rows.length > 0) selected.texts.push(JSON.stringify(rows));
    selected.rows.push(...rows);
    await nextTurn();
  }
  return selected;
};

/** The part of a packed plan with these numbers. A line of theirs that failed at once keeps its error. */
export const selectNumbers = async (plan: PackedPlan, numbers: ReadonlySet<string>): Promise<PackedPlan> => {
  const lines = await selectRows<NewLine>(plan.lines, ({ vatNumber }) => vatNumber !== null && numbers.has(vatNumber));
  const wanted = new Set(lines.rows.map(({ requestId }) => requestId));
  const requests = await selectRows<NewBatchRequest>(plan.requests, ({ id }) => wanted.has(id));
  return { lines: lines.texts, requests: requests.texts, ...countRows({ lines: lines.rows, requests: requests.rows }) };
};
