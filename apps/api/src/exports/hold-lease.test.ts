import { type AccountLeases, AppError } from '@vat/domain';
import { until } from '@vat/testkit';
import { holdLease } from './send-zip.js';

const leasesThat = (changes: Partial<AccountLeases>): AccountLeases => ({
  take: async () => true,
  renew: async () => true,
  release: async () => undefined,
  ...changes,
});

const allowed = async () => undefined;

test('a lease that is held cannot be taken', async () => {
  const hold = holdLease({ leases: leasesThat({ take: async () => false }), onFailure: () => undefined });
  expect(await hold('account', allowed)).toBeNull();
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
  const held = await holdLease({ leases, onFailure: () => undefined })('a', allowed);
  await until('a renewal', () => calls.length > 1);
  await held?.release();
  expect(calls).toEqual(['take a', 'renew a true', 'release a true']);
  expect(held?.lost.aborted).toBe(false);
});

test('a lease is lost when it cannot be renewed, and when the database does not answer in time', async () => {
  const failures: unknown[] = [];
  const onFailure = (error: unknown) => void failures.push(error);
  const gone = await holdLease({ leases: leasesThat({ renew: async () => false }), onFailure })('a', allowed);
  const away = await holdLease({
    leases: leasesThat({
      renew: () => Promise.reject(new Error('away')),
      release: () => Promise.reject(new Error('away')),
    }),
    onFailure,
  })('b', allowed);
  await until('both to be lost', () => gone?.lost.aborted && away?.lost.aborted);
  await gone?.release();
  await away?.release();
  expect(failures.length).toBeGreaterThanOrEqual(2);
});

test('a lease is lost when its caller may read no more, with the error as the reason', async () => {
  const refusal = new AppError('UNAUTHORIZED');
  const failures: unknown[] = [];
  const hold = holdLease({ leases: leasesThat({}), onFailure: (error) => void failures.push(error) });
  const held = await hold('a', () => Promise.reject(refusal));
  await until('it to be lost', () => held?.lost.aborted);
  await held?.release();
  expect([held?.lost.reason, failures]).toEqual([refusal, []]);
});
