export { answerSandbox, SANDBOX_ERROR_CODES } from './answer-sandbox.js';
export { createViesClient } from './create-vies-client.js';
export { probeVies } from './probe-vies.js';
export { TRADER_WIRE_NAMES } from './wire.js';
