import type { CheckRequest, Lookup, LookupSlot } from '@vat/domain';
import { lookUpWithinSlot } from './perform-lookup.js';

const REQUEST = { id: 'request', attempts: 0 } as CheckRequest;
const ANSWERED = { outcome: { kind: 'valid' } } as unknown as Lookup;

/** A lookup whose slot is held at the first `times` comparisons, and the number of lookups that were sent. */
const lookUp = async (times: number) => {
  let compared = 0;
  let sent = 0;
  const slot: LookupSlot = {
    lost: new AbortController().signal,
    isHeld: () => {
      compared += 1;
      return compared <= times;
    },
    release: () => undefined,
  };
  const lookup = await lookUpWithinSlot({
    lookUp: async () => {
      sent += 1;
      return ANSWERED;
    },
    markLookupStarted: async () => undefined,
    abortLookups: new AbortController().signal,
  })(REQUEST, slot, new Date());
  return { lookup, sent };
};

test('a lookup is sent only while its slot is held, and an answer that comes later is ignored', async () => {
  expect(await lookUp(2)).toEqual({ lookup: ANSWERED, sent: 1 });
  expect(await lookUp(1)).toEqual({ lookup: null, sent: 1 });
  expect(await lookUp(0)).toEqual({ lookup: null, sent: 0 });
});
