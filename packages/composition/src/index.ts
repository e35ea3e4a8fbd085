export { composeSweep, runEach, sweepDeliveryJobs, sweepRequestJobs } from './compose-sweep.js';
export { type ConnectionSettings, type Connections, openConnections } from './open-connections.js';
export { openTimestamper } from './open-timestamper.js';
export { type ReadinessDeps, readiness } from './readiness.js';
export { retryPolicies } from './retry-policies.js';
