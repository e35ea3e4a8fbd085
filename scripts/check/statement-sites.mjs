// @ts-check
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../prepare/run-program.mjs';

const STATEMENT = /\bquery\(\w+, |\$executeRaw `|\$executeRaw`/;

/** The source of a file of the build. @param {string} built */
export const sourceFile = (built) => built.replace('/dist/', '/src/').replace(/\.js$/, '.ts');

/** The statements of a package, in its source or its build, as file:line. @param {string} folder @returns {string[]} */
export const findSites = (folder) =>
  readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const at = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return entry.name === 'generated' ? [] : findSites(at);
    if (!/\.[jt]s$/.test(at) || /\.(?:d|test|fixture)\.ts$|\/query\.[jt]s$/.test(at)) return [];
    // The build still has the files of modules that were moved or deleted.
    if (!existsSync(join(ROOT, sourceFile(at)))) return [];
    const lines = readFileSync(join(ROOT, at), 'utf8').split('\n');
    return lines.flatMap((line, n) => (STATEMENT.test(line) ? [`${at}:${n + 1}`] : []));
  });

/** The innermost frame in a file of packages/db that contains statements, in its source or its build. */
export const callSite = () => {
  const frames = new Error().stack?.match(/packages\/db\/(?:src|dist)\/[^)\s]+?:\d+/g) ?? [];
  return frames.find((frame) => !/\/query\.[jt]s:/.test(frame)) ?? '';
};

/** A database with these statements. Its models are stand-ins: they read by primary key. @param {any} statements @returns {any} */
export const databaseOf = (statements) => {
  const models = new Proxy({}, { get: () => async () => ({ disabledAt: new Date(0), count: 0 }) });
  return new Proxy(statements, { get: (own, name) => own[name] ?? models });
};

/** The statement that contains a line: the last one of its file that begins there or before. @param {string[]} sites @param {string} at */
export const statementAt = (sites, at) => {
  const [file, line] = at.split(':');
  const lines = sites.flatMap((site) => (site.startsWith(`${file}:`) ? [Number(site.split(':')[1])] : []));
  return `${file}:${Math.max(...lines.filter((candidate) => candidate <= Number(line)))}`;
};
