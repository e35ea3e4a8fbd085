export * from './create-logger.js';
export * from './duration.js';
export * from './hash-password.js';
export * from './metrics.js';
export * from './run-process.js';
export * from './settings.js';
export * from './start-probe-server.js';
export * from './warn-sparingly.js';
