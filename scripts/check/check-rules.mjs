// @ts-check
import { posix } from 'node:path';
import { findCycles } from './find-cycles.mjs';
import { judgeImport, roomOf } from './judge-imports.mjs';
import { readSource } from './read-source.mjs';
import { BANS, ROOMS } from './rules.mjs';

/**
 * @typedef {import('./judge-imports.mjs').Manifests} Manifests
 * @typedef {import('./judge-imports.mjs').Finding} Finding
 * @typedef {{ file: string, line: number, rule: string, message: string }} Breach
 */

/**
 * Judges a tree by the table in `rules.mjs`: imports, declared dependencies, banned reads, import cycles.
 *
 * @param {{ files: Readonly<Record<string, string>>, manifests: Manifests }} tree source text by path from the top
 *   level, and each room's package.json
 * @returns {Breach[]} in the order of the files; empty when all is well
 */
export const checkRules = ({ files, manifests }) => {
  /** @type {Breach[]} */
  const breaches = [];
  /** @type {Map<string, string[]>} */
  const graph = new Map();
  for (const [file, text] of Object.entries(files)) {
    const room = roomOf(file);
    const facts = readSource(file, text);
    const place = { file, room, isTest: /\.(test|fixture)\.tsx?$/.test(file), manifests };
    const findings = [
      ...facts.errors.map((message) => ({ line: 1, rule: 'syntax', message })),
      ...(room === '.' || ROOMS[room] ? [] : [unknownRoom(room)]),
      ...facts.imports.flatMap((imported) => judgeImport(imported, place) ?? []),
      ...judgeReads(facts.reads, place),
    ];
    breaches.push(...findings.map((finding) => ({ file, ...finding })));
    graph.set(
      file,
      facts.imports.flatMap(({ specifier }) => resolve(file, specifier, files) ?? []),
    );
  }
  for (const cycle of findCycles(graph)) {
    const file = /** @type {string} */ (cycle[0]);
    breaches.push({ file, line: 1, rule: 'cycles', message: `import cycle: ${cycle.join(' → ')}` });
  }
  return breaches;
};

/** @param {string} room @returns {Finding} */
const unknownRoom = (room) => ({
  line: 1,
  rule: 'imports',
  message: `${room} has no line in scripts/check/rules.mjs; say there what it may import`,
});

/**
 * @param {import('./read-source.mjs').Read[]} reads
 * @param {import('./judge-imports.mjs').Place} place
 * @returns {Finding[]}
 */
const judgeReads = (reads, { file, room }) => {
  const banned = reads.flatMap((read) => {
    const ban = BANS.find(
      ({ objects, properties }) => objects.includes(read.object) && properties.includes(read.property),
    );
    if (!ban || ban.except.some((pattern) => pattern.test(file))) return [];
    if (ban.rule === 'outgoing-calls' && ROOMS[room]?.fetches) return [];
    return [{ line: read.line, rule: ban.rule, message: `${read.object}.${read.property}: ${ban.why}` }];
  });
  if (!file.endsWith('/main.ts')) return banned;
  const [, ...again] = reads.filter(({ object, property }) => object === 'process' && property === 'env');
  const message = 'process.env is read a second time; read it once and pass it on';
  return [...banned, ...again.map(({ line }) => ({ line, rule: 'process-env', message }))];
};

/**
 * The source file that an import leads to, or null when it leaves the tree. A name of ours leads to the package's
 * index, so that a cycle through two packages is seen too.
 *
 * @param {string} file
 * @param {string} specifier
 * @param {Readonly<Record<string, string>>} files
 */
const resolve = (file, specifier, files) => {
  const target = specifier.startsWith('@vat/')
    ? `packages/${specifier.slice('@vat/'.length)}/src/index.ts`
    : posix.join(posix.dirname(file), specifier);
  const stem = target.replace(/\.jsx?$/, '');
  return [target, `${stem}.ts`, `${stem}.tsx`, `${stem}/index.ts`].find((candidate) => candidate in files) ?? null;
};
