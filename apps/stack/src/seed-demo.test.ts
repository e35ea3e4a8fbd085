import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { seedDemo } from './seed-demo.js';

let dataDir: string;
let accounts: string[];
let logged: string[];
beforeEach(() => {
  dataDir = mkdtempSync(path.join(os.tmpdir(), 'vat-demo-'));
  [accounts, logged] = [[], []];
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

/** `account create` of the admin command; `isKilled`: the start ends when the account is in the database. */
const seed = ({ isKilled = false, database = 'embedded' } = {}) =>
  seedDemo({
    ...{ dataDir, database, created: false, log: (line) => logged.push(line) },
    admin: async (args) => {
      const email = args[args.indexOf('--email') + 1] ?? '';
      if (accounts.includes(email)) return { ok: false, stdout: '{"error":"it is taken"}', stderr: '' };
      accounts.push(email);
      if (isKilled) throw new Error('killed');
      const keys = { account_id: `acc_${accounts.length}`, live_key: 'vat_live_1', test_key: 'vat_test_1' };
      return { ok: true, stdout: JSON.stringify(keys), stderr: '' };
    },
  });

test('a start that ended between creating the demo account and storing its keys is followed by one with a demo account', async () => {
  await expect(seed({ isKilled: true })).rejects.toThrow('killed');
  const demo = await seed();
  expect(demo).toMatchObject({ account_id: 'acc_2', email: expect.stringMatching(/^demo-[0-9a-f]{8}@example\.com$/) });
  expect([await seed(), accounts.length, logged]).toEqual([demo, 2, []]);
});

test('a database that has a demo account of another DATA_DIR gets no second one, at no start', async () => {
  accounts.push('demo@example.com');
  expect([await seed(), await seed()]).toEqual([null, null]);
  expect([accounts.length, logged]).toEqual([1, Array(2).fill('no demo account was created: it is taken')]);
  expect(readdirSync(dataDir)).toEqual([]);
});

test('a start on another database that has a demo account leaves that of the first one as it is', async () => {
  const demo = await seed();
  expect(await seed({ database: 'given' })).toBeNull();
  expect([await seed(), accounts.length]).toEqual([demo, 1]);
});
