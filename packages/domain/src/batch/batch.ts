/** Batches an account may have queued or running. Source: contract part 1 §8. */
export const MAX_ACTIVE_BATCHES = 5;

/** Lines an account may upload within any {@link LINE_WINDOW_MS}. Source: contract part 3 §1. */
export const MAX_UPLOADED_LINES = 200_000;
/** 24 hours. */
export const LINE_WINDOW_MS = 86_400_000;

/** Downloads of results that an account may have at a time, over all processes. Source: contract part 3 §1. */
export const MAX_DOWNLOADS = 2;

/** `queued`: no line was asked yet. `completed`: no line is left to process, and done + failed = total. */
export const BATCH_STATUSES = ['queued', 'running', 'completed'] as const;
export type BatchStatus = (typeof BATCH_STATUSES)[number];

/** How many lines have a check (`done`, of these `valid` and `invalid`) and how many an error (`failed`). */
export type BatchCounts = { done: number; failed: number; valid: number; invalid: number };

/** A file of numbers, as it is shown. Ids are UUIDs. */
export type Batch = BatchCounts & {
  id: string;
  status: BatchStatus;
  label: string | null;
  fileName: string | null;
  total: number;
  createdAt: Date;
  completedAt: Date | null;
};

/** What can end a line without a check. Source: contract part 2 §5. */
export const LINE_ERROR_CODES = [
  'INVALID_REFERENCE',
  'BAD_REQUEST',
  'INVALID_REQUESTER',
  'QUOTA_EXCEEDED',
  'UPSTREAM_NO_ANSWER',
  'ACCOUNT_DISABLED',
] as const;
export type LineErrorCode = (typeof LINE_ERROR_CODES)[number];

/** Why one line ended without a check; the other lines go on. */
export type LineError = { code: LineErrorCode; message: string };
