// @ts-check
// Adds to package-lock.json the optional packages of other platforms that the registry at hand does not carry, so that
// `npm ci` accepts the lock everywhere (an image, a colleague's machine). Run it after `npm install` has changed the lock:
// `node scripts/complete-lock.mjs`. Entries it adds have no integrity hash: npm writes that when it first fetches them.
import { readFileSync, writeFileSync } from 'node:fs';

const FILE = new URL('../package-lock.json', import.meta.url);
const OS = {
  android: 'android',
  darwin: 'darwin',
  freebsd: 'freebsd',
  linux: 'linux',
  openharmony: 'openharmony',
  win32: 'win32',
  windows: 'win32',
};
const CPUS = ['arm64', 'x64', 'ia32', 'arm', 'ppc64', 'riscv64', 's390x', 'loong64'];

/** @typedef {{ optionalDependencies?: Record<string, string>, dev?: boolean }} Entry */

/** What a platform package's name says of where it is for; null when it says nothing. @param {string} name */
const platformOf = (name) => {
  const words = name.split('/').at(-1)?.split('-') ?? [];
  const os = words.map((word) => OS[/** @type {keyof typeof OS} */ (word)]).find(Boolean);
  const cpu = CPUS.find((known) => words.includes(known));
  if (!os || !cpu) return null;
  const libc = words.some((word) => word.startsWith('musl'))
    ? ['musl']
    : os === 'linux' && words.some((word) => word.startsWith('gnu'))
      ? ['glibc']
      : undefined;
  return { os: [os], cpu: [cpu], ...(libc && { libc }) };
};

const lock = JSON.parse(readFileSync(FILE, 'utf8'));
/** @type {Record<string, Entry>} */
const packages = lock.packages;
let added = 0;
for (const [at, entry] of Object.entries({ ...packages })) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    if (packages[`node_modules/${name}`] || packages[`${at}/node_modules/${name}`]) continue;
    const platform = platformOf(name);
    if (!platform) continue;
    const version = range.replace(/^[\^~]/, '');
    packages[`node_modules/${name}`] = Object.assign({ version, optional: true }, entry.dev && { dev: true }, platform);
    added += 1;
  }
}
lock.packages = Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`added ${added}`);
