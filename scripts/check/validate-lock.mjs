// @ts-check

/**
 * @typedef {object} LockEntry
 * @property {string} [integrity]
 * @property {string} [resolved]
 * @property {boolean} [link]
 * @property {boolean} [hasInstallScript]
 * @property {Record<string, string>} [optionalDependencies]
 *
 * @typedef {Readonly<Record<string, LockEntry>>} LockPackages The `packages` of package-lock.json.
 */

const LOCK_FILES = new Set(['package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'bun.lock']);

/** @param {string} at a key of the lock, e.g. `node_modules/a/node_modules/@b/c` @returns {string} the package's name */
const nameAt = (at) => at.slice(at.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** Whether Node finds `name` from the package at `at`. @param {LockPackages} packages @param {string} at @param {string} name */
const isFound = (packages, at, name) => {
  for (let folder = at; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    if (packages[`${folder === '' ? '' : `${folder}/`}node_modules/${name}`]) return true;
    if (folder === '') return false;
  }
};

/**
 * The reasons why a lock does not install the same bytes everywhere, one line each: an entry without a hash, the address of a
 * registry, or a missing package of another platform (npm omits it silently if the registry does not have it, and then
 * `npm ci` fails on that platform).
 *
 * @param {LockPackages} packages
 * @returns {string[]}
 */
export const validateLock = (packages) =>
  Object.entries(packages).flatMap(([at, { integrity, resolved, link, optionalDependencies = {} }]) => {
    const lines = Object.keys(optionalDependencies)
      .filter((name) => !isFound(packages, at, name))
      .map((name) => `package-lock.json does not contain ${name}, which ${at} may need on another platform`);
    if (!at.includes('node_modules/') || link) return lines;
    if (!integrity) lines.push(`package-lock.json: ${at} has no integrity`);
    if (resolved) lines.push(`package-lock.json: ${at} names an address (resolved)`);
    return lines;
  });

/**
 * Lock files other than the one in the top folder, one line each.
 *
 * @param {readonly string[]} files paths of the project's files, relative to the top folder
 * @returns {string[]}
 */
export const findSurplusLocks = (files) =>
  files
    .filter((file) => LOCK_FILES.has(file.slice(file.lastIndexOf('/') + 1)) && file !== 'package-lock.json')
    .map((file) => `${file} is a second lock file`);

/** First cells of the table rows below a heading. @param {string} document @param {string} heading @returns {string[]} */
const namesIn = (document, heading) => {
  const [, section = ''] = document.split(`\n## ${heading}\n`);
  const [rows = ''] = section.split('\n## ');
  return [...rows.matchAll(/^\| *(`[^|]+)\|/gm)].flatMap(([, cell]) =>
    [...String(cell).matchAll(/`([^`]+)`/g)].map(([, name]) => String(name)),
  );
};

/** @param {string} heading @param {ReadonlySet<string>} wanted @param {readonly string[]} named @param {string} what @returns {string[]} */
const compare = (heading, wanted, named, what) => [
  ...[...wanted]
    .filter((name) => !named.includes(name))
    .map((name) => `docs/dependencies.md, ${heading}: ${name} is missing (${what})`),
  ...named
    .filter((name) => !wanted.has(name))
    .map((name) => `docs/dependencies.md, ${heading}: ${name} should be removed (${what})`),
];

/** @typedef {Partial<Record<'dependencies' | 'devDependencies' | 'optionalDependencies', Record<string, string>>>} Manifest */

/** @param {readonly Manifest[]} manifests @returns {Set<string>} */
const directDependencies = (manifests) =>
  new Set(
    manifests
      .flatMap((manifest) =>
        Object.keys({ ...manifest.dependencies, ...manifest.devDependencies, ...manifest.optionalDependencies }),
      )
      .filter((name) => !name.startsWith('@vat/')),
  );

/**
 * The differences between docs/dependencies.md and the installed packages, and a project that would run install scripts. One
 * line each.
 *
 * @param {{ document: string, npmrc: string, manifests: readonly Manifest[], overrides: Readonly<Record<string, unknown>>, packages: LockPackages }} project
 * @returns {string[]}
 */
export const validateDependencies = ({ document, npmrc, manifests, overrides, packages }) => {
  const scripted = Object.entries(packages).flatMap(([at, entry]) => (entry.hasInstallScript ? [nameAt(at)] : []));
  const section = (/** @type {string} */ heading) => namesIn(document, heading);
  return [
    ...(/^ignore-scripts *= *true$/m.test(npmrc) ? [] : ['.npmrc does not contain ignore-scripts=true']),
    ...compare('Direct dependencies', directDependencies(manifests), section('Direct dependencies'), 'package.json'),
    ...compare(
      'Install scripts',
      new Set(scripted),
      section('Install scripts'),
      'hasInstallScript in package-lock.json',
    ),
    ...compare('Overrides', new Set(Object.keys(overrides)), section('Overrides'), 'overrides in package.json'),
  ];
};
