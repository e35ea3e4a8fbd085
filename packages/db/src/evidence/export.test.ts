import { newUuid, newUuidAt } from '@vat/domain';
import { connectReader } from '../connect-reader.js';
import { testDatabase } from '../test-database.fixture.js';
import { chooseEvidence } from './export.js';

const database = testDatabase(2);

test('a change of a watch that was recorded after the period it was observed in is in the dossier of that period', async () => {
  const { db, url } = database;
  const account = newUuid();
  const observed = new Date('2026-10-31T23:59:30Z');
  const recorded = new Date('2026-11-01T00:20:00Z');
  const [watchId, checkId] = [newUuid(), newUuidAt(observed)];
  await db.$executeRaw`INSERT INTO account (id, name, plan, created_at) VALUES (${account}::uuid, 'A', 'free', ${observed})`;
  await db.$executeRaw`
    INSERT INTO watch (id, account_id, vat_number, country_code, national, input, frequency, state, created_at, next_check_at)
    VALUES (${watchId}::uuid, ${account}::uuid, 'DE1', 'DE', '1', 'DE1', 'daily', 'active', ${observed}, ${recorded})`;
  await db.$executeRaw`
    INSERT INTO watch_change (id, watch_id, kind, before, after, check_id, changed_at)
    VALUES (${newUuidAt(recorded)}::uuid, ${watchId}::uuid, 'validity', 'true', 'false', ${checkId}::uuid, ${observed})`;
  const reader = connectReader({
    ...{ url, maxConnections: 1, queryTimeoutMs: 5_000, connectTimeoutMs: 5_000, applicationName: 'vat-test' },
  });
  const changesOf = async (from: string, to: string): Promise<number> => {
    const period = { from: new Date(from), to: new Date(to), vatNumber: null, reference: null };
    return (await chooseEvidence(reader)(account, period, 100)).changes.length;
  };
  try {
    expect(await changesOf('2026-10-01T00:00:00Z', '2026-11-01T00:00:00Z')).toBe(1);
    expect(await changesOf('2026-11-01T00:00:00Z', '2026-12-01T00:00:00Z')).toBe(0);
  } finally {
    await reader.close();
  }
});
