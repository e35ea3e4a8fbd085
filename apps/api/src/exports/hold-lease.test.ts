import type { AccountLeases } from '@vat/domain';
import { until } from '@vat/testkit';
import { holdLease } from './send-zip.js';

const leasesThat = (changes: Partial<AccountLeases>): AccountLeases => ({
  take: async () => true,
  renew: async () => true,
  release: async () => undefined,
  ...changes,
});

test('a lease that is held cannot be taken', async () => {
  const hold = holdLease({ leases: leasesThat({ take: async () => false }), onFailure: () => undefined });
  expect(await hold('account')).toBeNull();
});

test('a lease is renewed by its holder while it is held, and released once', async () => {
  const calls: string[] = [];
  let holder = '';
  const leases = leasesThat({
    take: async (account, by) => {
      holder = by;
      calls.push(`take ${account}`);
      return true;
    },
    renew: async (account, by) => calls.push(`renew ${account} ${by === holder}`) > 0,
    release: async (account, by) => void calls.push(`release ${account} ${by === holder}`),
  });
  const held = await holdLease({ leases, onFailure: () => undefined })('a');
  await until('a renewal', () => calls.length > 1);
  await held?.release();
  expect(calls).toEqual(['take a', 'renew a true', 'release a true']);
  expect(held?.lost.aborted).toBe(false);
});

test('a lease is lost when it cannot be renewed, and when the database does not answer in time', async () => {
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => void failures.push(error);
  const gone = await holdLease({ leases: leasesThat({ renew: async () => false }), onFailure })('a');
  const away = await holdLease({
    leases: leasesThat({
      renew: () => Promise.reject(new Error('away')),
      release: () => Promise.reject(new Error('away')),
    }),
    onFailure,
  })('b');
  await until('both to be lost', () => gone?.lost.aborted && away?.lost.aborted);
  await gone?.release();
  await away?.release();
  expect(failures.length).toBeGreaterThanOrEqual(2);
});
