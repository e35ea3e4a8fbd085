export * from './check-request.js';
export * from './cursor.js';
export * from './list-query.js';
export * from './present-error.js';
export * from './present-request.js';
export * from './present-usage.js';
export * from './text.js';
