import { readFile } from 'node:fs/promises';

const PACKAGE = new URL('..', import.meta.url);
const DOMAIN = new URL('../../domain/', import.meta.url);
// Type-only imports are erased at compile time, so they load nothing.
const IMPORT = /^(?:import|export)\b(?! type\b)[^;]*?\bfrom '([^']+)';/gm;

/** The source file of an import from this repository, or null for one from npm or Node. */
const resolve = async (specifier: string, from: URL): Promise<URL | null> => {
  if (specifier.startsWith('.')) return new URL(specifier.replace(/\.js$/, '.ts'), from);
  if (!specifier.startsWith('@vat/domain')) return null;
  const { exports } = JSON.parse(await readFile(new URL('package.json', DOMAIN), 'utf8'));
  return new URL(exports[specifier.replace('@vat/domain', '.')].development, DOMAIN);
};

/** Every file that the package loads, by its URL, and every module from npm or Node. */
const walk = async (): Promise<{ sources: Map<string, string>; foreign: Set<string> }> => {
  const sources = new Map<string, string>();
  const foreign = new Set<string>();
  const waiting = [new URL('src/index.ts', PACKAGE)];
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (sources.has(file.href)) continue;
    const source = await readFile(file, 'utf8');
    sources.set(file.href, source);
    for (const [, specifier = ''] of source.matchAll(IMPORT)) {
      const next = await resolve(specifier, file);
      if (next === null) foreign.add(specifier);
      else waiting.push(next);
    }
  }
  return { sources, foreign };
};

test('the package loads nothing that needs Node, so that the dashboard can preview a file', async () => {
  const { sources, foreign } = await walk();
  expect([...sources.keys()]).toContain(new URL('src/vat-number/country.ts', DOMAIN).href);
  // Both run in browsers; sax uses Node's streams only where there are any.
  expect([...foreign].sort()).toEqual(['fflate', 'sax']);
  for (const source of sources.values()) expect(source).not.toMatch(/\b(?:Buffer|process|require|__dirname)\b[.(]/);
});
