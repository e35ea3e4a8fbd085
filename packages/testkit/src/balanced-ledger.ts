import type { Ledger } from './read-ledger.js';

/** What the books must say once all has ended with a verdict: each request one check, one unit and, after a 202, one event. */
export const balancedLedger = (ledger: Ledger): Partial<Ledger> => ({
  open: 0,
  completed: ledger.requests,
  checks: ledger.requests,
  used: ledger.requests,
  reserved: 0,
  events: ledger.accepted,
  acceptedWithoutOneEvent: 0,
  needlessEvents: 0,
  unchargedChecks: 0,
});
