import { balancedLedger, callChecks, type NumberedState, numberSequence, readLedger, type World } from '@vat/testkit';

/** Settings with short windows and intervals, so that calls are soon answered 202. */
export const CLUSTER_SETTINGS = {
  UPSTREAM_WINDOW: '500ms',
  UPSTREAM_ATTEMPT_TIMEOUT: '5s',
  BACKGROUND_GIVE_UP_AFTER: '10m',
  SWEEP_EVERY: '500ms',
  LOG_LEVEL: 'warn',
};

/**
 * Operations for tests of the cap. `world` is called late, since it is created in `beforeAll`. `accountId`: the UUID of an
 * account whose requests are the only ones that count, for tests that run at the same time.
 */
export const clusterOf = (world: () => World, accountId?: string) => {
  const nextNumber = numberSequence();
  const newNumbers = (state: NumberedState, count: number) => Array.from({ length: count }, () => nextNumber(state));
  const statsOf = async (state: NumberedState) => (await world().vies.stats()).states[state];
  return {
    newNumbers,
    /** Direct checks of new numbers of one member state, all at once. */
    callMany: (state: NumberedState, count: number) => callChecks(world(), newNumbers(state, count), accountId),
    noneOpen: async () => (await readLedger(world(), accountId)).open === 0,
    statsOf,
    inFlight: async (state: NumberedState) => (await statsOf(state))?.in_flight ?? 0,
    /** Expects at most two lookups in flight, and every request ended, delivered and charged once. */
    expectLawful: async (state: NumberedState) => {
      expect((await statsOf(state))?.max_in_flight).toBeLessThanOrEqual(2);
      const ledger = await readLedger(world(), accountId);
      expect(ledger).toMatchObject(balancedLedger(ledger));
    },
  };
};
