import { AppError } from '@vat/domain';
import type { RequestHandler } from 'express';
import { callerOf } from '../http/context.js';

/**
 * Throws TEST_KEY_NOT_ALLOWED for a test key: batches, watches, the audit export, anchors and timestamps are for live keys
 * alone (contract part 1 §5). Runs after the gates and before the body is read.
 */
export const refuseTestKey: RequestHandler = (_req, res, next) => {
  if (callerOf(res).test) throw new AppError('TEST_KEY_NOT_ALLOWED');
  next();
};
