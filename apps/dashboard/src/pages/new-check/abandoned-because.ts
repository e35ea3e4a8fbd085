import type { CheckRequest } from '../../api/shapes.js';

const ABANDONED_BECAUSE: Record<NonNullable<CheckRequest['reason']>, string> = {
  UPSTREAM_NO_ANSWER:
    'The member state did not answer in time. This request does not count towards your quota. Try again later.',
  NEVER_ASKED:
    'The number could not be looked up within 7 days. This request does not count towards your quota. Try again.',
  ACCOUNT_DISABLED: 'The account was disabled. This request does not count towards your quota.',
  INVALID_REQUESTER:
    'VIES does not accept the requester. Enter your own VAT number or leave the field empty. This request does not count towards your quota.',
};

/** Why a request ended without a check, and what to do. */
export const abandonedBecause = (reason: CheckRequest['reason']): string =>
  reason === null ? 'The request was abandoned.' : ABANDONED_BECAUSE[reason];
