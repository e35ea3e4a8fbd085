import type { CheckRequest } from '../../api/shapes.js';

/** Why a request was given up, in words. */
export const ABANDONED_BECAUSE: Record<NonNullable<CheckRequest['reason']>, string> = {
  UPSTREAM_NO_ANSWER: 'The member state gave no answer in all this time. Nothing was charged; check again later.',
  ACCOUNT_DISABLED: 'The account was disabled meanwhile. Nothing was charged.',
  INVALID_REQUESTER: 'VIES does not accept the requester. Enter your own, valid number or none; nothing was charged.',
};
