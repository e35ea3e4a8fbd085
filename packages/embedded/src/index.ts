export * from './create-folder.js';
export * from './embedded-server.js';
export * from './postgres-server.js';
export * from './redis-package.js';
export * from './redis-server.js';
export * from './server-process.js';
