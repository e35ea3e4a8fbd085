// @ts-check
// `npm run --silent admin -- …`: the operator's commands against DATABASE_URL and REDIS_URL, or against the servers of a
// stack that runs on DATA_DIR. Standard output is the command's one JSON object and nothing else.
import { existsSync, readFileSync, writeSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './prepare/root.mjs';
import { prepare } from './prepare.mjs';

const PROGRAM = path.join(ROOT, 'apps/admin/dist/main.js');

/** In the form of the program's own refusals. @param {string} message @returns {never} */
const giveUp = (message) => {
  writeSync(1, `${JSON.stringify({ error: { code: 'FAILED', message } })}\n`);
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
const answers = (url) =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port || 5432), timeout: 2_000 });
    socket.once('connect', () => resolve(true));
    for (const event of ['error', 'timeout']) socket.once(event, () => resolve(false));
    socket.once('connect', () => socket.destroy()).once('timeout', () => socket.destroy());
  });

/** @param {NodeJS.ProcessEnv} env @returns {Promise<NodeJS.ProcessEnv>} what the command needs and `env` does not say */
const completeSettings = async (env) => {
  const dataDir = path.resolve(ROOT, env['DATA_DIR'] || '.data');
  const kept = readText(path.join(dataDir, 'run.json'));
  /** @type {{ database_url?: string, redis_url?: string }} */
  const run = kept ? JSON.parse(kept) : {};
  // The program itself says what is wrong with a file.
  const given = (/** @type {string} */ name) => Boolean(env[name] || env[`${name}_FILE`]);
  const textOf = (/** @type {string} */ name) => env[name] || readText(env[`${name}_FILE`] ?? '');
  const database = given('DATABASE_URL') ? textOf('DATABASE_URL') : run.database_url;
  // It calls the upstreams alone, and may be the first thing that is run on a machine.
  if (process.argv[2] === 'upstreams') {
    return !given('DATABASE_URL') && database && (await answers(database)) ? { DATABASE_URL: database } : {};
  }
  if (!database && !given('DATABASE_URL'))
    giveUp(`nothing runs on ${dataDir}: npm start first, or set DATABASE_URL and REDIS_URL`);
  // A database of somebody else's must not be worked on with this stack's Redis, nor with its key.
  const isOurs = Boolean(database) && database === run.database_url;
  if (isOurs && database && !(await answers(database)))
    giveUp(`the stack of ${dataDir} does not run any more (its Postgres is away): npm start`);
  const redis = given('REDIS_URL') ? null : isOurs && run.redis_url;
  if (redis !== null && !redis)
    giveUp('DATABASE_URL is set and REDIS_URL is not: set both, or none to use the running stack');
  const secret = isOurs && !given('SECRET_KEY') ? readText(path.join(dataDir, 'secret_key')) : '';
  return {
    ...(!given('DATABASE_URL') && { DATABASE_URL: database }),
    ...(redis && { REDIS_URL: redis }),
    ...(secret && { SECRET_KEY: secret }),
  };
};

if (!existsSync(PROGRAM)) await prepare().catch((error) => giveUp(error.message));
Object.assign(process.env, await completeSettings(process.env));
// The program reads its arguments from the same place as when it is run by itself.
await import(pathToFileURL(PROGRAM).href);
