export * from './create-mailer.js';
export * from './invitation-letter.js';
export * from './notification-letter.js';
export * from './render-letter.js';
