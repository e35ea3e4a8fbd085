export * from './check.js';
export * from './events.js';
export * from './express-webhook.js';
export type { ReceivedHeaders } from './read-header.js';
export * from './verification-error.js';
export * from './verify.js';
