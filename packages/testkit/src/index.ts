export * from './run-program.js';
export * from './start-process.js';
export * from './start-world.js';
export * from './until.js';
export * from './vies-control.js';
