import { MAX_DOWNLOADS, newUuid } from '@vat/domain';
import { until } from '@vat/testkit';
import { testDatabase } from '../test-database.fixture.js';
import { downloadLeases, exportLeases } from './leases.js';

const connected = testDatabase(10, 10_000);

const LONG_MS = 60_000;

test('one of many concurrent callers gets the export lease of an account', async () => {
  const leases = exportLeases(connected.db);
  const [one, other] = [newUuid(), newUuid()];
  const candidates = Array.from({ length: 30 }, newUuid);
  const taken = await Promise.all(candidates.map((holder) => leases.take(one, holder, LONG_MS)));
  expect(taken.filter(Boolean)).toHaveLength(1);
  expect(await leases.take(other, newUuid(), LONG_MS)).toBe(true);

  const holder = candidates[taken.indexOf(true)] ?? '';
  expect(await leases.renew(one, holder, LONG_MS)).toBe(true);
  await leases.release(one, newUuid());
  expect(await leases.take(one, newUuid(), LONG_MS)).toBe(false);
  await leases.release(one, holder);
  expect(await leases.take(one, newUuid(), LONG_MS)).toBe(true);
});

test('an expired lease goes to the next holder, and the previous one can neither renew nor release it', async () => {
  const leases = exportLeases(connected.db);
  const [account, dead, next] = [newUuid(), newUuid(), newUuid()];
  expect(await leases.take(account, dead, 300)).toBe(true);
  expect(await leases.take(account, next, LONG_MS)).toBe(false);
  await until('the lease to run out', () => leases.take(account, next, LONG_MS));
  expect(await leases.renew(account, dead, LONG_MS)).toBe(false);
  await leases.release(account, dead);
  expect(await leases.take(account, newUuid(), LONG_MS)).toBe(false);
});

test('two of many concurrent callers get a download lease, and a released one is available again', async () => {
  const leases = downloadLeases(connected.db);
  const [one, other] = [newUuid(), newUuid()];
  const candidates = Array.from({ length: 30 }, newUuid);
  const taken = await Promise.all(candidates.map((holder) => leases.take(one, holder, LONG_MS)));
  const holders = candidates.filter((_, n) => taken[n]);
  expect(holders).toHaveLength(MAX_DOWNLOADS);
  expect(await leases.take(other, newUuid(), LONG_MS)).toBe(true);
  for (const holder of holders) expect(await leases.renew(one, holder, LONG_MS)).toBe(true);

  const [left = ''] = holders;
  await leases.release(one, left);
  expect(await leases.renew(one, left, LONG_MS)).toBe(false);
  const next = newUuid();
  expect(await leases.take(one, next, 300)).toBe(true);
  expect(await leases.take(one, newUuid(), LONG_MS)).toBe(false);
  await until('the lease to run out', () => leases.take(one, newUuid(), LONG_MS));
  expect(await leases.renew(one, next, LONG_MS)).toBe(false);
});
