export { VerificationError, type VerifiedDelivery, verify, type WebhookEvent } from '@vat/receiver';
export * from './client.js';
export * from './connection.js';
export * from './errors.js';
export type { EventFollower } from './follow-events.js';
export * from './generated/api-types.js';
export type { Answer, CallOptions, ListName, OperationName, Upload } from './operations.js';
export { RETRY_POLICY } from './retry.js';
export * from './verify-check.js';
