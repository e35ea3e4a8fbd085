import type { LineError } from './batch.js';

/** `done`: it has a check, valid or not. `failed`: it ended with an error. Source: contract part 2 §5. */
export const LINE_STATUSES = ['queued', 'done', 'failed'] as const;
export type LineStatus = (typeof LINE_STATUSES)[number];

/** A row of a batch's file, as it is shown. Ids are UUIDs. */
export type BatchLine = {
  id: string;
  line: number;
  status: LineStatus;
  input: string;
  vatNumber: string | null;
  reference: string | null;
  checkId: string | null;
  error: LineError | null;
};

/** What the results file says of a line: its cells as they came, and what became of it. `check.bytes`: the hashed body. */
export type ResultLine = {
  id: string;
  /** A JSON array of texts, parsed only when the line is written: a slice of lines may hold half a million cells. */
  cellsJson: string;
  vatNumber: string | null;
  error: LineError | null;
  check: { id: string; bytes: Uint8Array } | null;
};
