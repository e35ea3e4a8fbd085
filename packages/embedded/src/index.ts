export * from './embedded-server.js';
export * from './find-free-port.js';
export * from './inspect-process.js';
export * from './start-postgres.js';
export * from './start-redis.js';
export * from './stop-process.js';
export * from './wait-for-exit.js';
