// @ts-check
// `npm run --silent admin -- …`: runs an admin command with DATABASE_URL and REDIS_URL, or with the servers of the stack that
// runs on DATA_DIR. Standard output contains only the JSON object of the command.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './prepare/run-program.mjs';
import { prepare } from './prepare.mjs';

const PROGRAM = path.join(ROOT, 'apps/admin/dist/main.js');

/** Exits with an error in the format of the admin program. @param {string} message @returns {never} */
const fail = (message) => {
  try {
    writeSync(1, `${JSON.stringify({ error: { code: 'FAILED', message } })}\n`);
  } catch {
    // The disk is full, or nobody reads the output.
    console.error(`admin: ${message}`);
  }
  process.exit(1);
};

/** @param {string} file */
const readText = (file) => {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return '';
  }
};

/** @param {string} url @returns {Promise<boolean>} */
const isReachable = (url) =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    // A socket of the file system. The admin program reports that it does not answer.
    if (hostname === '') return resolve(true);
    const host = hostname.replace(/^\[|\]$/g, '');
    const socket = connect({ host, port: Number(port || 5432), timeout: 2_000 });
    socket.once('connect', () => resolve(true));
    for (const event of ['error', 'timeout']) socket.once(event, () => resolve(false));
    socket.once('connect', () => socket.destroy()).once('timeout', () => socket.destroy());
  });

/**
 * Restores a backup into the Postgres of a data directory on which no stack runs. It runs for this command alone: a stack would
 * seed the database first. @param {string} dataDir @returns {Promise<never>}
 */
const restoreHere = async (dataDir) => {
  const { startPostgres } = await import('@vat/embedded');
  const server = await startPostgres({ dataDir }).catch((error) => fail(error.message));
  const env = { ...process.env, DATABASE_URL: server.url };
  // Ctrl-C ends the command. The server must not be left.
  process.on('SIGINT', () => undefined);
  const { status } = spawnSync(process.execPath, [PROGRAM, ...process.argv.slice(2)], { env, stdio: 'inherit' });
  if (!server.reused) await server.stop();
  process.exit(status ?? 1);
};

/**
 * The state of the stack that runs on a data directory. In a copy that was made while it ran, the file describes the stack of the
 * original. @param {string} dataDir @returns {{ database_url?: string, redis_url?: string, redis_prefix?: string }}
 */
const readRun = (dataDir) => {
  const text = readText(path.join(dataDir, 'run.json'));
  const { data_dir: of, ...run } = text ? JSON.parse(text) : {};
  return of === undefined || of === realpathSync(dataDir) ? run : {};
};

/** @param {NodeJS.ProcessEnv} env @returns {Promise<NodeJS.ProcessEnv>} the required settings that `env` lacks */
const completeSettings = async (env) => {
  const dataDir = path.resolve(ROOT, env['DATA_DIR'] || '.data');
  const run = readRun(dataDir);
  // The admin program reports errors of a settings file.
  const given = (/** @type {string} */ name) => Boolean(env[name] || env[`${name}_FILE`]);
  const textOf = (/** @type {string} */ name) => env[name] || readText(env[`${name}_FILE`] ?? '');
  const database = given('DATABASE_URL') ? textOf('DATABASE_URL') : run.database_url;
  // `upstreams` and the list of commands need no servers, and may be the first that is run on a machine.
  if (['upstreams', 'help'].includes(process.argv[2] ?? '') || process.argv.includes('--help')) {
    return !given('DATABASE_URL') && database && (await isReachable(database)) ? { DATABASE_URL: database } : {};
  }
  if (!database && !given('DATABASE_URL') && process.argv[2] === 'restore') return restoreHere(dataDir);
  if (!database && !given('DATABASE_URL'))
    fail(`no stack runs on ${dataDir}: run npm start first, or set DATABASE_URL and REDIS_URL`);
  // Another database must not be combined with the Redis of this stack. The admin program reports what a command lacks, also the
  // SECRET_KEY of `secrets reseal`: the one in DATA_DIR may be the previous one, and all would seem to be resealed.
  const isOurs = Boolean(database) && database === run.database_url;
  if (isOurs && database && !(await isReachable(database)))
    fail(`the stack of ${dataDir} is not running (its Postgres does not answer): run npm start`);
  const redis = !given('REDIS_URL') && isOurs && run.redis_url;
  const isOurRedis = redis || (isOurs && textOf('REDIS_URL') === run.redis_url);
  return {
    ...(!given('DATABASE_URL') && { DATABASE_URL: database }),
    ...(redis && { REDIS_URL: redis }),
    ...(isOurRedis && run.redis_prefix && !env['REDIS_PREFIX'] && { REDIS_PREFIX: run.redis_prefix }),
  };
};

if (!existsSync(PROGRAM)) await prepare().catch((error) => fail(error.message));
Object.assign(process.env, await completeSettings(process.env));
// The program reads its arguments from process.argv, which has the same positions here.
await import(pathToFileURL(PROGRAM).href);
