import { AbandonedError, ApiError, CheckHashError, ConnectionError } from '../errors.js';

/** What to do about the errors that callers meet most; the messages of the others say it. */
const REMEDIES: Readonly<Record<string, string>> = {
  UNAUTHORIZED:
    'Set VAT_API_KEY to a key of your account. A key is shown only once, when it is created; create a new one on the dashboard under Settings.',
  TEST_KEY_NOT_ALLOWED: 'Use a live key: test keys have no batches, coverages or dossiers.',
  QUOTA_EXCEEDED: 'Wait until then, or move to a larger plan.',
  TOO_MANY_BATCHES: 'Wait until one of them is completed.',
  NOT_FOUND: 'Check the id, and that the key is of the same account and mode.',
};

/** What to do about a request that was abandoned for a reason that does not pass by itself. */
const AFTER_ABANDONMENT: Readonly<Record<string, string>> = {
  INVALID_REQUESTER: 'check the number again without that requester, or with another one.',
  ACCOUNT_DISABLED: 'contact the operator of the service, who can enable the account.',
};

/** An error in sentences for people: what happened, and what to do about it. */
export const explainError = (error: unknown): string => {
  if (error instanceof ApiError) {
    const { fields = [], line, reset_at: reset } = error.fields;
    const details = [
      // A fault of one field is the message already.
      ...fields.filter(({ message }) => !error.message.includes(message)).map(({ message }) => `${message}.`),
      ...(line === undefined ? [] : [`Line ${line}.`]),
      ...(reset === undefined ? [] : [`Again from ${reset}.`]),
    ];
    const remedy = REMEDIES[error.code];
    const trace =
      error.status >= 500 && error.requestId ? [`Give the operator the id of the call, ${error.requestId}.`] : [];
    return [`${error.message} (${error.code})`, ...details, ...(remedy ? [remedy] : []), ...trace].join(' ');
  }
  if (error instanceof ConnectionError) return `${error.message} Check VAT_API_URL, and that the service is running.`;
  if (error instanceof AbandonedError)
    return `${error.message} Nothing was charged; ${AFTER_ABANDONMENT[error.request.reason ?? ''] ?? 'check the number again later.'}`;
  if (error instanceof CheckHashError)
    return `The check does not verify: ${error.message}. Something between you and the service changed it; do not rely on it.`;
  return error instanceof Error ? error.message : String(error);
};
