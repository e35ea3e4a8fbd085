export * from './answer-sandbox.js';
export * from './classify-answer.js';
export * from './create-vies-client.js';
export * from './probe-vies.js';
export * from './wire.js';
