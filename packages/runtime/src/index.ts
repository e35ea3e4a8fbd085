export * from './create-logger.js';
export * from './derive-base-url.js';
export * from './hash-password.js';
export * from './metrics.js';
export * from './run-process.js';
export * from './setting-table.js';
export * from './settings.js';
export * from './start-probe-server.js';
