export * from './limit-calls.js';
export * from './open-caller.js';
export * from './read-response.js';
