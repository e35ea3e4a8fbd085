import type { AbandonReason } from '../request/request.js';
import type { LineError } from './batch.js';

/** What the lines of a request that ended without a check say. Source: contract part 2 §5. */
export const LINE_ENDINGS: Readonly<Record<AbandonReason, LineError>> = {
  UPSTREAM_NO_ANSWER: {
    code: 'UPSTREAM_NO_ANSWER',
    message: 'The upstream did not answer in time; upload the number again later.',
  },
  ACCOUNT_DISABLED: { code: 'ACCOUNT_DISABLED', message: 'The account was disabled before this line was answered.' },
  INVALID_REQUESTER: { code: 'INVALID_REQUESTER', message: 'The upstream does not accept the requester of this line.' },
};
