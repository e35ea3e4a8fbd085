import type { CheckEntry } from '../check/entry.js';
import type { MemberState } from '../member-states.js';
import type { AnswerToBind, BoundKey, StoredAnswer } from '../request/ports.js';
import type { Answer } from '../request/request.js';
import type { Batch, LineError } from './batch.js';

/** A data row of a file, as a reader of spreadsheets gives it. Cells are as they came; an empty cell is '' or null. */
export type BatchRow = {
  /** Line of the file where the row begins, from 1. */
  line: number;
  /** All cells of the row, for the results file. */
  cells: readonly string[];
  /** The number as it was written. */
  candidate: string;
  country: string | null;
  reference: string | null;
  requester: string | null;
};

/** A line on its way into the database. Ids are UUIDs, in the order of the file. */
export type NewLine = {
  id: string;
  line: number;
  input: string;
  vatNumber: string | null;
  reference: string | null;
  /** The request that this line shares with the others of the same number and requester; null when it failed at once. */
  requestId: string | null;
  error: LineError | null;
  /** The row's cells as a JSON array of texts. One text, because a file may have a million cells, which are slow to copy between threads. */
  cellsJson: string;
};

/** One ask for all lines of the same number and requester. `answer`: of a malformed number, which costs no unit. */
export type NewBatchRequest = {
  id: string;
  input: string;
  memberState: MemberState;
  national: string;
  vatNumber: string;
  requester: string | null;
  /** Of the first line of the group. */
  reference: string | null;
  entries: CheckEntry[];
  answer: Answer | null;
};

/** A batch to be written. */
export type NewBatch = {
  id: string;
  accountId: string;
  label: string | null;
  fileName: string | null;
  /** Normalised. */
  requester: string | null;
  /** The file's header row as it came; null when it had none. */
  header: string[] | null;
  lines: NewLine[];
  /** In the order of the file: units are reserved for the first of them when the quota does not last for all. */
  requests: NewBatchRequest[];
  /** For the requests that are not malformed. */
  quota: { period: string; limit: number };
  /** What ends the lines that the quota does not reach. */
  overQuota: LineError;
  createdAt: Date;
  giveUpAt: Date;
  maxActive: number;
  /** At most so many lines may have been uploaded after `since`, those of this batch included. */
  lineLimit: { max: number; since: Date };
  idempotency: Omit<AnswerToBind, 'answer'> | null;
  /** The answer to the caller, made within the transaction and kept there for the key to replay. */
  answerOf: (batch: Batch) => StoredAnswer;
};

export type BatchInsertion =
  | { kind: 'created'; batch: Batch; answer: StoredAnswer; deliveryId: string | null }
  | { kind: 'too_many_batches'; active: number }
  /** `freedBy`: the upload that has to leave the window until there is room for these lines, by its time. */
  | { kind: 'too_many_lines'; freedBy: Date }
  /** `bound`: the key's binding; null when its first call is under way. */
  | { kind: 'key_taken'; bound: BoundKey | null };

/** Port: enforces TOO_MANY_BATCHES and BATCH_LINE_LIMIT, binds the key with its answer, reserves units and writes the rows, or changes nothing. */
export type InsertBatch = (batch: NewBatch) => Promise<BatchInsertion>;

/** Where lines of a batch wait: for asks of a member state, or for the recording of malformed numbers. */
export type FeedLane = MemberState | 'malformed';
