export * from './answer.js';
export * from './script.js';
export * from './start-vies-sandbox.js';
export * from './traffic.js';
