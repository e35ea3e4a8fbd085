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
