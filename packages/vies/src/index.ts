export * from './answer-sandbox.js';
export * from './classify-answer.js';
export * from './clean-text.js';
export * from './create-vies-client.js';
export * from './encode-ask.js';
export * from './probe-vies.js';
