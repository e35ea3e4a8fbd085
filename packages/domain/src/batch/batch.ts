import type { Verdict } from '../check/entry.js';
import type { StoredAnswer, UnexpiredKey } from '../idempotency-key.js';
import type { MemberState } from '../member-states.js';
import type { CheckRequest } from '../request/request.js';

/** Batches an account may have queued or running. */
export const MAX_ACTIVE_BATCHES = 5;

/** Lines an account may upload within any {@link LINE_WINDOW_MS}. */
export const MAX_UPLOADED_LINES = 200_000;
/** 24 hours. */
export const LINE_WINDOW_MS = 86_400_000;

/** Downloads of results that an account may have at a time, over all processes. */
export const MAX_DOWNLOADS = 2;

/** `queued`: no line was looked up yet. `completed`: no line is left to process, and done + failed = total. */
export const BATCH_STATUSES = ['queued', 'running', 'completed'] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

/** How many lines have a check (`done`, of these `valid` and `invalid`) and how many an error (`failed`). */
export type BatchCounts = { done: number; failed: number; valid: number; invalid: number };

/** A file of numbers, as the API shows it. Ids are UUIDs. */
export type Batch = BatchCounts & {
  id: string;
  status: BatchStatus;
  label: string | null;
  fileName: string | null;
  total: number;
  createdAt: Date;
  completedAt: Date | null;
};

/** Errors that end a line without a check. */
export const LINE_ERROR_CODES = [
  'INVALID_REFERENCE',
  'BAD_REQUEST',
  'INVALID_REQUESTER',
  'QUOTA_EXCEEDED',
  'UPSTREAM_NO_ANSWER',
  'NEVER_ASKED',
  'ACCOUNT_DISABLED',
] as const;
export type LineErrorCode = (typeof LINE_ERROR_CODES)[number];

/** Why one line ended without a check; the other lines go on. */
export type LineError = { code: LineErrorCode; message: string };

/** `done`: it has a check, valid or not. `failed`: it ended with an error. */
export const LINE_STATUSES = ['queued', 'done', 'failed'] as const;
export type LineStatus = (typeof LINE_STATUSES)[number];

/** A row of a batch's file, as the API shows it. Ids are UUIDs. */
export type BatchLine = {
  id: string;
  line: number;
  status: LineStatus;
  input: string;
  vatNumber: string | null;
  reference: string | null;
  checkId: string | null;
  valid: boolean | null;
  /** Of its check, as the next field; null for a line without a check, and once the check is deleted. */
  verdict: Verdict | null;
  name: string | null;
  error: LineError | null;
};

/** A line of the results file: its original cells and its result. `check.bytes`: the hashed body. */
export type ResultLine = {
  id: string;
  /** A JSON array of texts, parsed only when the line is written: a chunk of lines may hold half a million cells. */
  cellsJson: string;
  vatNumber: string | null;
  error: LineError | null;
  check: { id: string; bytes: Uint8Array } | null;
};

/** A data row of a file, as the spreadsheet reader returns it. */
export type BatchRow = {
  /** Line of the file where the row begins, from 1 as in a text editor: a `sep=` line and blank lines count. */
  line: number;
  /** The row's cells as in the file, for the results file. */
  cells: readonly string[];
  /** The number after repairs, `''` when the cell is empty or missing; not normalised. */
  candidate: string;
  /** After repairs; null when the file has no such column or the cell is blank. The same holds for the next two. */
  country: string | null;
  reference: string | null;
  requester: string | null;
};

/** A line to be stored. Ids are UUIDs, in the order of the file. */
export type NewLine = {
  id: string;
  line: number;
  input: string;
  vatNumber: string | null;
  reference: string | null;
  /** The request that this line shares with the others of the same number and requester; null when it failed at once. */
  requestId: string | null;
  error: LineError | null;
  cells: readonly string[];
};

/**
 * One request for all lines of the same number and requester; `reference` is that of the first line. `answer`: of a malformed
 * number, which consumes no unit.
 */
export type NewBatchRequest = Pick<
  CheckRequest,
  'id' | 'input' | 'memberState' | 'national' | 'vatNumber' | 'requester' | 'reference' | 'entries' | 'answer'
>;

/**
 * A planned file as it is stored. Lines and requests are texts of JSON arrays, each small enough for one statement. The thread that
 * reads the file makes them, and the process that serves callers passes them on without parsing.
 */
export type PackedPlan = {
  /** Of {@link NewLine}. */
  lines: readonly string[];
  /** Of {@link NewBatchRequest}, in the order of the file: units are reserved for the first when the quota does not last for all. */
  requests: readonly string[];
  counts: {
    lines: number;
    /** Lines that failed at once. */
    failed: number;
    /** Requests that are not malformed. Each consumes a unit. */
    costing: number;
  };
  /** How many requests each queue dispatches, in the order of the file. */
  queues: readonly { queue: DispatchQueue; requests: number }[];
};

/** The rows of a batch to be written. */
export type BatchRows = PackedPlan & {
  id: string;
  accountId: string;
  label: string | null;
  fileName: string | null;
  /** Normalised. */
  requester: string | null;
  /** The file's header row, unchanged; null when it had none. */
  header: string[] | null;
  /** For the requests that are not malformed. */
  quota: { period: string; limit: number };
  /** What ends the lines that the quota does not reach. */
  overQuota: LineError;
  createdAt: Date;
  giveUpAt: Date;
  maxActive: number;
  /** Null when the lines are counted as those of another upload. */
  lineLimit: LineLimit | null;
};

/** At most `max` lines may be uploaded after `since`, those of the current upload included. */
export type LineLimit = { max: number; since: Date };

/** A batch to be written. */
export type NewBatch = BatchRows & {
  lineLimit: LineLimit;
  idempotency: UnexpiredKey | null;
  /** The answer to the caller, made and stored within the transaction so that the key can replay it. */
  answerOf: (batch: Batch) => StoredAnswer;
};

/** Why an upload is refused, with nothing changed. */
export type UploadRefusal =
  | { kind: 'too_many_batches'; active: number }
  /** `freedBy`: the time of the upload that must leave the window before there is room for these lines. */
  | { kind: 'too_many_lines'; freedBy: Date }
  /** The account was disabled meanwhile. */
  | { kind: 'account_disabled' }
  /** The Idempotency-Key was used before, or its first call is under way. */
  | { kind: 'key_taken' };

type BatchInsertion =
  | { kind: 'created'; batch: Batch; answer: StoredAnswer; deliveryId: string | null }
  | UploadRefusal;

/** Port: enforces TOO_MANY_BATCHES and BATCH_LINE_LIMIT, binds the key with its answer, reserves units and writes the rows, or changes nothing. */
export type InsertBatch = (batch: NewBatch) => Promise<BatchInsertion>;

/** Where lines of a batch wait: for lookups of a member state, or for the recording of malformed numbers. */
export type DispatchQueue = MemberState | 'malformed';
