// @ts-check
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const PLACES = ['apps', 'packages', 'bench', 'scripts'];
const NOT_SOURCE = new Set(['node_modules', 'dist', 'generated', 'coverage']);
const SOURCE = /(?<!\.d)\.(?:[cm]?[jt]s|[jt]sx)$/;

/**
 * The project as `checkRules` wants it: every source file that a person wrote, and each room's package.json.
 *
 * @param {string} top folder of the checkout
 * @returns {Parameters<typeof import('./check-rules.mjs').checkRules>[0]}
 */
export const readTree = (top) => {
  const found = PLACES.flatMap((place) => filesBelow(top, place));
  const ofTop = readdirSync(top).filter((name) => SOURCE.test(name));
  const files = Object.fromEntries([...ofTop, ...found].map((file) => [file, readFileSync(join(top, file), 'utf8')]));
  const rooms = [
    '.',
    ...['apps', 'packages'].flatMap((place) => readdirSync(join(top, place)).map((name) => `${place}/${name}`)),
  ];
  const manifests = Object.fromEntries(
    rooms
      .map((room) => ({ room, path: join(top, room, 'package.json') }))
      .filter(({ path }) => existsSync(path))
      .map(({ room, path }) => [room, JSON.parse(readFileSync(path, 'utf8'))]),
  );
  return { files, manifests };
};

/** @param {string} top @param {string} folder @returns {string[]} */
const filesBelow = (top, folder) => {
  if (!existsSync(join(top, folder))) return [];
  return readdirSync(join(top, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) return NOT_SOURCE.has(entry.name) ? [] : filesBelow(top, path);
    return SOURCE.test(entry.name) ? [path] : [];
  });
};
