import { atTheEdge } from '../at-the-edge.js';
import { newUuid } from '../ids.js';
import { malformedAnswer } from '../request/malformed-answer.js';
import { openingEntry } from '../request/opening-entry.js';
import { planLine } from './plan-line.js';
import type { BatchRow, NewBatchRequest, NewLine } from './ports.js';
import { storableText } from './storable-text.js';

/** The lines of a file, in its order, and the requests they share. */
export type BatchPlan = { lines: NewLine[]; requests: NewBatchRequest[] };

export type BatchToPlan = {
  rows: readonly BatchRow[];
  /** The batch's requester, normalised. */
  requester: string | null;
  at: Date;
};

/**
 * Turns the rows of a file into its lines and into the requests they share: lines of the same number and requester have
 * one. Malformed numbers come answered already, and share a request only when they were written alike, since what is wrong
 * in two of them may look the same once it is shown. Ten thousand rows take half a second: not for a thread that serves
 * callers. Source: contract part 2 §5.
 */
export const planBatch = ({ rows, requester, at }: BatchToPlan): BatchPlan => {
  const lines: NewLine[] = [];
  const requests = new Map<string, NewBatchRequest>();
  for (const row of rows) {
    const planned = planLine(row, requester);
    const input = storableText(atTheEdge(row.candidate));
    const line = {
      id: newUuid(),
      line: row.line,
      input,
      vatNumber: planned.read?.vatNumber ?? null,
      reference: planned.reference === null ? null : storableText(planned.reference),
      cellsJson: JSON.stringify(row.cells.map(storableText)),
    };
    if (planned.error !== null) {
      lines.push({ ...line, requestId: null, error: planned.error });
      continue;
    }
    const { read } = planned;
    const malformed = read.kind === 'malformed' ? read.reason : null;
    const checksumFailed = read.kind === 'well_formed' && read.checksum === 'failed';
    const shared = JSON.stringify([read.vatNumber, planned.requester, malformed === null ? null : input]);
    const request = requests.get(shared) ?? {
      id: newUuid(),
      input,
      memberState: read.memberState,
      national: read.national,
      vatNumber: read.vatNumber,
      requester: planned.requester,
      reference: planned.reference,
      entries: [openingEntry({ malformed, checksumFailed }, at)],
      answer: malformed === null ? null : malformedAnswer(at),
    };
    requests.set(shared, request);
    lines.push({ ...line, requestId: request.id, error: null });
  }
  return { lines, requests: [...requests.values()] };
};
