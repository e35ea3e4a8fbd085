import type { ErrorCode, FieldError } from '@vat/domain';

/** What the service says besides code and message. */
export type ErrorExtra = {
  fields?: FieldError[];
  retry_after?: number;
  reset_at?: string;
  limit?: number;
  line?: number;
};

/** A refusal of the service: its envelope, as a thing to throw. `code` is null when the answer was no envelope at all. */
export class ApiError extends Error {
  override name = 'ApiError';

  constructor(
    readonly status: number,
    readonly code: ErrorCode | null,
    message: string,
    readonly extra: ErrorExtra = {},
    /** The answer's X-Request-Id, by which the operator finds it. */
    readonly requestId: string | null = null,
  ) {
    super(message);
  }
}

/** Whether the same call may succeed a little later: nothing answered, the service failed, or too many calls came at once. */
export const isPassing = (error: unknown): boolean =>
  !(error instanceof ApiError) || error.status >= 500 || error.code === 'RATE_LIMITED';
