import type { ErrorCode, ErrorFields, Request } from './generated/api-types.js';

type Refusal = { status: number; code: string; message: string; fields: ErrorFields; requestId: string | null };

/** The service refused a call, and repeating it did not or would not help. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** A code of docs/errors.md, or `HTTP_` and the status when the answer is not one of the service. */
  readonly code: ErrorCode | (string & {});
  /** The other fields of the error, such as `reset_at`. */
  readonly fields: ErrorFields;
  /** Identifies the call in the logs of the service. */
  readonly requestId: string | null;

  constructor({ status, code, message, fields, requestId }: Refusal) {
    super(message);
    this.status = status;
    this.code = code;
    this.fields = fields;
    this.requestId = requestId;
  }
}

/** No complete answer arrived: the service cannot be reached, or did not answer in time. `cause` is the reason. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
}

/** The key or the address of the service is missing or malformed. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** A request ended without a check. Nothing was charged. */
export class AbandonedError extends Error {
  override readonly name = 'AbandonedError';
  constructor(readonly request: Request) {
    super(`The request ${request.id} was abandoned: ${request.reason ?? 'no reason given'}.`);
  }
}

/** There is no answer yet. The request continues in the background; {@link requestId} finds it again. */
export class PendingError extends Error {
  override readonly name = 'PendingError';
  constructor(readonly requestId: string) {
    super(`The request ${requestId} has no answer yet. It continues in the background.`);
  }
}

/** A batch is not completed yet. It continues in the background. */
export class BatchPendingError extends Error {
  override readonly name = 'BatchPendingError';
  constructor(readonly batchId: string) {
    super(`The batch ${batchId} is not completed yet. It continues in the background.`);
  }
}

/** Why the hash of a check does not verify; see {@link verifyCheck}. */
export type CheckHashErrorCode =
  /** The object is not a check, or has no hash. */
  | 'HASH_MISSING'
  /** The hash was made in a way that this release does not know. */
  | 'UNKNOWN_PROFILE'
  /** The object has a value that no check has, such as a number with a fraction. */
  | 'NOT_HASHABLE'
  /** The content is not what the service hashed. */
  | 'HASH_MISMATCH';

/** A check that does not verify. */
export class CheckHashError extends Error {
  override readonly name = 'CheckHashError';
  constructor(
    readonly code: CheckHashErrorCode,
    message: string,
  ) {
    super(message);
  }
}
