import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { type ClonedDatabase, cloneDatabase, runProgram } from '@vat/testkit';

let folder: string;
let database: ClonedDatabase;
beforeAll(async () => {
  [folder, database] = await Promise.all([mkdtemp(path.join(tmpdir(), 'vat-admin-')), cloneDatabase()]);
});
afterAll(async () => {
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

const admin = async (settings: Record<string, string>, ...words: string[]): Promise<Record<string, unknown>> =>
  JSON.parse((await runProgram('scripts/admin.mjs', words, settings, true)).stdout);

test('a backup needs a database alone, and is restored into an empty DATA_DIR on which no stack runs', async () => {
  const backup = path.join(folder, 'backup');
  const given = { DATABASE_URL: database.url, DATA_DIR: path.join(folder, 'other') };
  expect(
    await admin(given, 'account', 'create', '--name', 'A', '--email', 'a@example.com', '--password', 'long enough'),
  ).toMatchObject({
    account_id: expect.stringMatching(/^acc_/),
  });
  const written = await admin(given, 'backup', backup);
  expect(written).toEqual({ bytes: expect.any(Number), tables: expect.any(Number), seconds: expect.any(Number) });
  const here = { DATA_DIR: path.join(folder, 'data') };
  expect(await admin(here, 'restore', backup)).toEqual({ ...written, seconds: expect.any(Number) });
  expect(await admin(here, 'restore', backup)).toMatchObject({
    error: { code: 'USAGE', message: expect.stringMatching(/account is not empty/) },
  });
});

test('secrets reseal does not take the key of DATA_DIR: the stack may run with another one, which resealed nothing', async () => {
  const DATA_DIR = path.join(folder, 'changed');
  await mkdir(DATA_DIR);
  await writeFile(path.join(DATA_DIR, 'run.json'), JSON.stringify({ database_url: database.url }));
  await writeFile(path.join(DATA_DIR, 'secret_key'), 'the key before the change');
  expect(await admin({ DATA_DIR }, 'secrets', 'reseal')).toEqual({
    error: { code: 'USAGE', message: expect.stringMatching(/SECRET_KEY: must be set/) },
  });
});

test('jobs are added with the REDIS_PREFIX of the running stack', async () => {
  const DATA_DIR = path.join(folder, 'prefixed');
  await mkdir(DATA_DIR);
  // A prefix that is refused shows which one is taken, without a Redis.
  const run = { database_url: database.url, redis_url: 'redis://127.0.0.1:1', redis_prefix: 'of-the-stack{}' };
  await writeFile(path.join(DATA_DIR, 'run.json'), JSON.stringify(run));
  const refused = { error: { code: 'USAGE', message: expect.stringMatching(/REDIS_PREFIX: must not contain/) } };
  expect(await admin({ DATA_DIR }, 'reconcile')).toEqual(refused);
  expect(await admin({ DATA_DIR, REDIS_PREFIX: 'given' }, 'reconcile')).not.toEqual(refused);
});

test('a copy of the DATA_DIR of a running stack does not lead to the database of the original', async () => {
  const DATA_DIR = path.join(folder, 'copy');
  await mkdir(DATA_DIR);
  const original = { data_dir: path.join(folder, 'other'), database_url: database.url };
  await writeFile(path.join(DATA_DIR, 'run.json'), JSON.stringify(original));
  expect(await admin({ DATA_DIR }, 'account', 'list')).toEqual({
    error: { code: 'FAILED', message: expect.stringMatching(/no stack runs on .*copy: run npm start first/) },
  });
});

test('a command that needs what is not set says so', async () => {
  const DATA_DIR = path.join(folder, 'other');
  expect(await admin({ DATA_DIR }, 'account', 'list')).toEqual({
    error: { code: 'FAILED', message: expect.stringMatching(/no stack runs on .*run npm start first/) },
  });
  expect(await admin({ DATA_DIR, DATABASE_URL: database.url }, 'reconcile')).toEqual({
    error: { code: 'USAGE', message: expect.stringMatching(/REDIS_URL: must be set/) },
  });
});

test('help needs no servers and lists the commands, or those that begin so', async () => {
  const DATA_DIR = path.join(folder, 'other');
  const { commands: all } = await admin({ DATA_DIR }, '--help');
  expect(all).toEqual(expect.arrayContaining(['migrate', 'anchor verify', 'upstreams probe [--timeout SECONDS]']));
  expect(await admin({ DATA_DIR }, 'key', '--help')).toEqual({
    commands: ['key create ACCOUNT [--test] [--name N]', 'key revoke KEY_ID'],
  });
  expect(await admin({ DATA_DIR }, 'help', 'nonsense')).toEqual({ commands: all });
});

test('output that cannot be written is a failure with one sentence, and a reader that has gone is none', async () => {
  const shell = (command: string) =>
    promisify(execFile)('sh', ['-c', command], { env: { ...process.env, DATABASE_URL: database.url } });
  await expect(shell('exec node scripts/admin.mjs account list >/dev/full')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^admin: The output could not be written: [^\n]*ENOSPC[^\n]*\n$/),
  });
  await expect(
    shell(`DATABASE_URL= DATA_DIR=${path.join(folder, 'other')} exec node scripts/admin.mjs account list >/dev/full`),
  ).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^admin: no stack runs on [^\n]*\n$/),
  });
  const { stderr } = await shell('{ node scripts/admin.mjs account list; echo "ended with $?" >&2; } | true');
  expect(stderr).toBe('ended with 0\n');
});
