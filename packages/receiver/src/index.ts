export * from './events.js';
export * from './express-webhook.js';
export type { ReceivedHeaders } from './signature-headers.js';
export * from './verification-error.js';
export * from './verify.js';
