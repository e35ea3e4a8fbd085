import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { unpackedLibraries } from './provide-tool.js';
import { PROJECT_ROOT } from './run-program.js';

/** A Chromium browser that runs on this machine, with the environment that it needs. */
type BrowserProgram = { file: string; env: Record<string, string> };

/** Chromium without windows: a whole browser spends more processor time on its own pages than on those under test. */
const PACKAGE = 'chromium-headless-shell';
const NAMES = [
  ...[PACKAGE, 'chrome-headless-shell', 'chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'],
  ...['chrome', 'microsoft-edge'],
];

const answers = ({ file, env }: BrowserProgram, args: string[]): boolean =>
  existsSync(file) && spawnSync(file, args, { env, timeout: 20_000 }).status === 0;
const isInstalled = (browser: BrowserProgram): boolean => answers(browser, ['--version']);
/** Opens a page, because `--version` succeeds even if data files that pages need are missing. */
const opensPages = (browser: BrowserProgram): boolean =>
  answers(browser, ['--headless', '--no-sandbox', '--disable-background-networking', '--dump-dom', 'about:blank']);

const fontsOf = (folder: string): string => path.join(folder, 'fonts.conf');

/** Writes a font configuration: without fonts a page has no size, and a bare machine has none in the system folders. */
const writeFontConfig = (folder: string): void =>
  writeFileSync(
    fontsOf(folder),
    `<?xml version="1.0"?><fontconfig><dir>/usr/share/fonts</dir><dir>${folder}/usr/share/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>\n`,
  );

/** Debian's start script looks for its files in /, so the program is started directly, with the paths of its libraries. */
const unpackedBrowser = (folder: string): BrowserProgram => {
  const libraries = unpackedLibraries(folder).flatMap((found) =>
    ['', 'nss', 'pulseaudio'].map((part) => path.join(found, part)),
  );
  return {
    file: path.join(folder, 'usr/lib/chromium', PACKAGE),
    env: {
      PATH: '/usr/bin:/bin',
      LD_LIBRARY_PATH: [path.join(folder, 'usr/lib/chromium'), ...libraries].join(':'),
      FONTCONFIG_FILE: fontsOf(folder),
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
  const found = installed.find(isInstalled);
  if (found) return found;
  const into = path.join(PROJECT_ROOT, '.data', 'tools', PACKAGE);
  // It was put there after it had opened a page.
  if (isInstalled(unpackedBrowser(into))) return unpackedBrowser(into);
  process.stderr.write(
    `[test] no chromium on PATH: fetching the distribution's package into ${into} (nothing is installed)\n`,
  );
  mkdirSync(path.dirname(into), { recursive: true });
  try {
    const { fetchDebianPackages } = await import('@vat/embedded');
    await fetchDebianPackages({
      // The second is part of the first, and left out where it is installed without it.
      names: [PACKAGE, 'chromium-common', 'fonts-dejavu-core'],
      into,
      isUsable: (folder) => {
        if (!existsSync(folder)) return false;
        writeFontConfig(folder);
        return opensPages(unpackedBrowser(folder));
      },
      env: process.env,
    });
  } catch (error) {
    throw new Error(
      'this test needs a browser: no chromium is on PATH, and it could not be fetched; install it (Debian, Ubuntu: apt-get install chromium; macOS: brew install --cask chromium)',
      { cause: error },
    );
  }
  // The configuration contains the path of the folder, which was different during unpacking.
  writeFontConfig(into);
  return unpackedBrowser(into);
};
