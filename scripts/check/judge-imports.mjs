// @ts-check
import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import { KEEPERS, ROOMS } from './rules.mjs';

/**
 * @typedef {import('./read-source.mjs').Import} Import
 * @typedef {{ line: number, rule: string, message: string }} Finding
 * @typedef {{ dependencies?: object, devDependencies?: object, optionalDependencies?: object, peerDependencies?: object,
 *   exports?: Record<string, unknown> }} Manifest
 * @typedef {Readonly<Record<string, Manifest>>} Manifests room → its package.json; `.` is the top level's
 * @typedef {{ file: string, room: string, isTest: boolean, manifests: Manifests }} Place
 */

const OURS = '@vat/';

/**
 * The room that a file belongs to: `packages/db`, `apps/api`, `scripts`; `.` for a file of the top level.
 *
 * @param {string} file relative to the top level, with forward slashes
 */
export const roomOf = (file) => {
  const parts = file.split('/');
  if (parts.length === 1) return '.';
  return parts[0] === 'packages' || parts[0] === 'apps'
    ? parts.slice(0, 2).join('/')
    : /** @type {string} */ (parts[0]);
};

/**
 * Whether one import keeps the import rules of `rules.mjs`. Null when it does.
 *
 * @param {Import} imported
 * @param {Place} place
 * @returns {Finding | null}
 */
export const judgeImport = (imported, place) => {
  const { specifier } = imported;
  if (specifier.startsWith('.')) return judgeRelative(imported, place);
  if (specifier.startsWith(OURS)) return judgeOurs(imported, place);
  if (isBuiltin(specifier)) return judgeBuiltin(imported, place);
  return judgeThirdParty(imported, place);
};

/** @param {Import} imported @param {Place} place */
const judgeRelative = ({ specifier, line }, { file, room }) => {
  const path = posix.join(posix.dirname(file), specifier);
  const target = roomOf(path);
  if (target === room || ROOMS[room]?.neighbours?.includes(target)) return null;
  if (ROOMS[room]?.launches && /^apps\/[^/]+\/dist\/main\.js$/.test(path)) return null;
  const message = target.startsWith('apps/')
    ? `${room} reaches into ${target}; nothing imports an app`
    : `${room} reaches into ${target} by a path; import \`${OURS}${target.split('/')[1] ?? target}\` instead`;
  return { line, rule: 'imports', message };
};

/** @param {Import} imported @param {Place} place @returns {Finding | null} */
const judgeOurs = ({ specifier, line }, { room, isTest, manifests }) => {
  const [name = '', ...deeper] = specifier.slice(OURS.length).split('/');
  const mayImport = ROOMS[room]?.ours ?? [];
  if (room === `packages/${name}` || room === `apps/${name}`) {
    return { line, rule: 'imports', message: `${specifier} is this very package; use a relative path` };
  }
  if (ROOMS[`apps/${name}`])
    return { line, rule: 'imports', message: `${specifier} is an app; nothing imports an app` };
  if (!ROOMS[`packages/${name}`]) return { line, rule: 'imports', message: `there is no package ${specifier}` };
  if (deeper.length > 0 && !manifests[`packages/${name}`]?.exports?.[`./${deeper.join('/')}`]) {
    return { line, rule: 'imports', message: `${specifier} goes past the package's index; import ${OURS}${name}` };
  }
  const known = mayImport.includes(name) || (isTest && name === 'testkit');
  if (!known) {
    const list = mayImport.length > 0 ? mayImport.join(', ') : 'nothing of ours';
    return { line, rule: 'imports', message: `${room} may import ${list}, not ${specifier}` };
  }
  if (isTest && name === 'testkit') return null;
  return judgeDeclared(`${OURS}${name}`, line, false, { room, isTest, manifests });
};

/** @param {Import} imported @param {Place} place @returns {Finding | null} */
const judgeBuiltin = ({ specifier, line }, { room, isTest }) => {
  const allowed = ROOMS[room]?.builtins;
  if (!allowed || isTest || allowed.includes(specifier)) return null;
  return {
    line,
    rule: 'imports',
    message: `${room} has no input or output of its own; ${specifier} does not belong here`,
  };
};

/** @param {Import} imported @param {Place} place @returns {Finding | null} */
const judgeThirdParty = ({ specifier, line, typeOnly }, { room, isTest, manifests }) => {
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  const keeper = KEEPERS.find(({ modules }) => modules.some((module) => matches(module, specifier, name)));
  // A configuration file of the top level (prisma.config.ts) is read by the tool it configures.
  if (keeper && room !== '.' && !keeper.rooms.includes(room)) {
    return { line, rule: 'imports', message: `${specifier} in ${room}: ${keeper.why}` };
  }
  return judgeDeclared(name, line, typeOnly, { room, isTest, manifests });
};

/** @param {string} module @param {string} specifier @param {string} name */
const matches = (module, specifier, name) =>
  module.endsWith('/*') ? specifier.startsWith(module.slice(0, -1)) : module === name;

/**
 * npm lays every package's dependencies into one folder, so an undeclared one works here and is missing from the image.
 *
 * @param {string} name
 * @param {number} line
 * @param {boolean} typeOnly
 * @param {Omit<Place, 'file'>} place
 * @returns {Finding | null}
 */
const judgeDeclared = (name, line, typeOnly, { room, isTest, manifests }) => {
  const own = manifests[room];
  const top = manifests['.'];
  // scripts and bench have no package.json: they run inside a checkout, where all workspaces are linked.
  if (!own && name.startsWith(OURS)) return null;
  const types = `@types/${name.replace('@', '').replace('/', '__')}`;
  const declared = Object.assign({}, own?.dependencies, own?.optionalDependencies, own?.peerDependencies);
  if (name in declared || (ROOMS[room]?.bundled && name in Object(own?.devDependencies))) return null;
  const development = Object.assign({}, own?.devDependencies, top?.devDependencies, !own && top?.dependencies);
  if ((isTest || !own) && (name in development || name === '@jest/globals')) return null;
  if (typeOnly && (name in development || types in development)) return null;
  return { line, rule: 'dependencies', message: `${name} is not in ${own ? `${room}/` : ''}package.json` };
};
