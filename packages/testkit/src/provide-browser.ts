import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fetchDebianPackages } from '@vat/embedded';
import { PROJECT_ROOT } from './project-root.js';

/** A browser of Chromium's kind that runs here, with the environment it needs for that. */
export type BrowserProgram = { file: string; env: Record<string, string> };

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome', 'microsoft-edge'];

const runs = ({ file, env }: BrowserProgram): boolean =>
  existsSync(file) && spawnSync(file, ['--version'], { env, timeout: 20_000 }).status === 0;

/** Debian's start script looks for its parts in /, so the program itself is started, with its libraries named. */
const unpackedBrowser = (folder: string): BrowserProgram => {
  const libraries = ['usr/lib', 'lib'].flatMap((lib) => {
    const parent = path.join(folder, lib);
    if (!existsSync(parent)) return [];
    return readdirSync(parent)
      .filter((entry) => entry.includes('-linux-'))
      .flatMap((triplet) => [path.join(parent, triplet), path.join(parent, triplet, 'nss')]);
  });
  return {
    file: path.join(folder, 'usr/lib/chromium/chromium'),
    env: {
      PATH: '/usr/bin:/bin',
      LD_LIBRARY_PATH: [path.join(folder, 'usr/lib/chromium'), ...libraries].join(':'),
      ...(existsSync('/etc/fonts/fonts.conf') ? {} : { FONTCONFIG_PATH: path.join(folder, 'etc/fonts') }),
    },
  };
};

/**
 * A browser for a test: the one on PATH, else Debian's package unpacked below the project's `.data` without root, as with
 * redis-server. Throws an Error that says what to install; a test that needs it fails then, and is not left out.
 */
export const provideBrowser = async (searchPath = process.env.PATH ?? ''): Promise<BrowserProgram> => {
  const folders = searchPath.split(path.delimiter).filter(Boolean);
  const installed = NAMES.flatMap((name) =>
    folders.map((folder) => ({ file: path.join(folder, name), env: { PATH: searchPath } })),
  );
  const found = installed.find(runs);
  if (found) return found;
  const into = path.join(PROJECT_ROOT, '.data', 'tools', 'chromium');
  if (runs(unpackedBrowser(into))) return unpackedBrowser(into);
  mkdirSync(path.dirname(into), { recursive: true });
  try {
    await fetchDebianPackages({
      names: ['chromium', 'fonts-dejavu-core', 'fontconfig-config'],
      into,
      isUsable: (folder) => runs(unpackedBrowser(folder)),
      env: process.env,
    });
  } catch (error) {
    throw new Error(
      'this test needs a browser: no chromium is on PATH, and it could not be fetched; install it (Debian, Ubuntu: apt-get install chromium; macOS: brew install --cask chromium)',
      { cause: error },
    );
  }
  return unpackedBrowser(into);
};
