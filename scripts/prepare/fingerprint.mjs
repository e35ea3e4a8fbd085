// @ts-check
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './run-program.mjs';

const IGNORED = new Set(['dist', 'generated', 'node_modules']);
const IS_TEST = /\.(test|fixture)\.tsx?$/;

/** The files of a folder in order, without tests and what is built or generated; a file alone. @param {string} at @returns {string[]} */
export const filesIn = (at) =>
  statSync(at).isDirectory()
    ? readdirSync(at, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() || entry.isFile())
        .map(({ name }) => name)
        .filter((name) => !IGNORED.has(name) && !IS_TEST.test(name))
        .sort()
        .flatMap((name) => filesIn(path.join(at, name)))
    : [at];

/** The hash of the names and contents of files and folders. @param {readonly string[]} inputs paths from the top folder */
export const fingerprint = (inputs) => {
  const hash = createHash('sha256');
  for (const file of inputs.flatMap((input) => filesIn(path.join(ROOT, input))))
    hash.update(`${path.relative(ROOT, file)}\0`).update(readFileSync(file));
  return hash.digest('hex');
};
