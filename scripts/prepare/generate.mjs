// @ts-check
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './root.mjs';
import { runProgram } from './run-program.mjs';

const SCHEMA = 'prisma/schema.prisma';
const CONFIG = 'prisma/prisma.config.ts';
const PRISMA = 'node_modules/prisma';

const fingerprint = () => {
  const hash = createHash('sha256');
  for (const file of [SCHEMA, CONFIG, `${PRISMA}/package.json`]) hash.update(readFileSync(path.join(ROOT, file)));
  return hash.digest('hex');
};

const outputFolder = () => {
  const schema = readFileSync(path.join(ROOT, SCHEMA), 'utf8');
  const [, output = '../node_modules/.prisma/client'] = /^\s*output\s*=\s*"([^"]+)"/m.exec(schema) ?? [];
  return path.resolve(ROOT, path.dirname(SCHEMA), output);
};

/** Generates the Prisma client, unless it was generated from the same schema. Returns true if it was generated. */
export const generate = async () => {
  const output = outputFolder();
  // Not inside the output folder, which Prisma empties.
  const stamp = path.join(ROOT, '.artifacts/prisma-client.sha256');
  const wanted = fingerprint();
  if (existsSync(output) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return false;
  const env = {
    ...process.env,
    // The command line would download its native engine. Generating does not need the engine, so any existing file works.
    PRISMA_SCHEMA_ENGINE_BINARY: process.env['PRISMA_SCHEMA_ENGINE_BINARY'] ?? process.execPath,
    CHECKPOINT_DISABLE: '1',
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
  };
  const args = [path.join(PRISMA, 'build/index.js'), 'generate', '--config', CONFIG];
  await runProgram('prisma generate', process.execPath, args, { env });
  mkdirSync(path.dirname(stamp), { recursive: true });
  writeFileSync(stamp, wanted);
  return true;
};
