// @ts-check
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fingerprint } from './fingerprint.mjs';
import { ROOT, runProgram } from './run-program.mjs';

const CONFIG = 'prisma/prisma.config.ts';
const PRISMA = 'node_modules/prisma';
const CLIENT_TYPES = 'packages/client/src/generated/api-types.ts';
const CLIENT_TYPES_FROM = [
  ...['package-lock.json', 'scripts/prepare/client-types.mjs'],
  ...['packages/domain/src', 'packages/contracts/src'],
];

/**
 * Makes `output` unless it was made from the same inputs. Returns true if it was made.
 *
 * @param {string} output path from the top folder
 * @param {readonly string[]} inputs as for {@link fingerprint}
 * @param {() => Promise<void>} make
 */
const makeFrom = async (output, inputs, make) => {
  // Not inside the output folder, which Prisma empties.
  const stamp = path.join(ROOT, '.artifacts', `${output.replaceAll('/', '-')}.sha256`);
  const wanted = fingerprint(inputs);
  if (existsSync(path.join(ROOT, output)) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return false;
  await make();
  mkdirSync(path.dirname(stamp), { recursive: true });
  writeFileSync(stamp, wanted);
  return true;
};

/** Generates the Prisma client. Returns false if it is up to date. */
export const generateDatabaseClient = () =>
  makeFrom('packages/db/src/generated', ['prisma/schema.prisma', CONFIG, `${PRISMA}/package.json`], () => {
    const env = {
      ...process.env,
      // The command line would download its native engine. Generating does not need the engine, so any existing file works.
      PRISMA_SCHEMA_ENGINE_BINARY: process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ?? process.execPath,
      CHECKPOINT_DISABLE: '1',
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
    };
    const args = [path.join(PRISMA, 'build/index.js'), 'generate', '--config', CONFIG];
    return runProgram('prisma generate', process.execPath, args, { env });
  });

/** Generates the types of `packages/client` from the contracts, which `build` builds. Returns false if they are up to date. */
export const generateClientTypes = (/** @type {(project: string) => Promise<void>} */ build) =>
  makeFrom(CLIENT_TYPES, CLIENT_TYPES_FROM, async () => {
    await build('packages/contracts');
    // Loaded afterwards, since it uses what was built.
    const { clientTypes } = await import('./client-types.mjs');
    mkdirSync(path.dirname(path.join(ROOT, CLIENT_TYPES)), { recursive: true });
    writeFileSync(path.join(ROOT, CLIENT_TYPES), clientTypes());
  });
