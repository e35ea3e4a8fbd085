import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const TOP = fileURLToPath(new URL('../..', import.meta.url));

/** A rule of .biome.json, a file that breaks it alone, and the same thing where, or the way, it is allowed. */
type Sample = { wrong: [file: string, text: string]; right: [file: string, text: string] };

const ASYNC = 'const later = async (): Promise<void> => {\n  await new Promise((done) => done(1));\n};\n';

const samples: Record<string, Sample> = {
  noFloatingPromises: {
    wrong: ['packages/db/src/a.ts', `${ASYNC}later();\n`],
    right: ['packages/db/src/a.ts', `${ASYNC}await later();\n`],
  },
  noMisusedPromises: {
    wrong: ['packages/db/src/a.ts', `${ASYNC}export const a = later() ? 1 : 2;\n`],
    right: ['packages/db/src/a.ts', `${ASYNC}export const a = (await later()) === undefined ? 1 : 2;\n`],
  },
  useAwaitThenable: {
    wrong: ['packages/db/src/a.ts', `export const a = await 1;\n`],
    right: ['packages/db/src/a.ts', `export const a = await Promise.resolve(1);\n`],
  },
  noExplicitAny: {
    wrong: ['packages/db/src/a.ts', `export const a = (x: any): string => x;\n`],
    right: ['packages/db/src/a.ts', `export const a = (x: unknown): unknown => x;\n`],
  },
  noTsIgnore: {
    wrong: ['packages/db/src/a.ts', `// @ts-ignore\nexport const a = 1;\n`],
    right: ['packages/db/src/a.ts', `export const a = 1;\n`],
  },
  noNonNullAssertion: {
    wrong: ['packages/db/src/a.ts', `export const a = (x: string | null): string => x!;\n`],
    right: ['packages/db/src/a.ts', `export const a = (x: string | null): string => x ?? '';\n`],
  },
  noParameterAssign: {
    wrong: ['packages/db/src/a.ts', `export const a = (x: number): number => {\n  x = 2;\n  return x;\n};\n`],
    right: ['packages/db/src/a.ts', `export const a = (x: number): number => {\n  const y = x;\n  return y;\n};\n`],
  },
  useImportType: {
    wrong: ['packages/db/src/a.ts', `import { B } from './b.js';\nexport type A = B;\n`],
    right: ['packages/db/src/a.ts', `import type { B } from './b.js';\nexport type A = B;\n`],
  },
  noUnusedImports: {
    wrong: ['packages/db/src/a.ts', `import { b } from './b.js';\nexport const a = 1;\n`],
    right: ['packages/db/src/a.ts', `import { b } from './b.js';\nexport const a = b;\n`],
  },
  noUnusedVariables: {
    wrong: ['packages/db/src/a.ts', `const b = 2;\nexport const a = 1;\n`],
    right: ['packages/db/src/a.ts', `const b = 2;\nexport const a = b;\n`],
  },
  noDefaultExport: {
    wrong: ['packages/db/src/a.ts', `export default 1;\n`],
    right: ['vite.config.ts', `export default 1;\n`],
  },
  noConsole: {
    wrong: ['packages/db/src/a.ts', `console.log(1);\n`],
    right: ['apps/api/src/main.ts', `console.log(1);\n`],
  },
  useFilenamingConvention: {
    wrong: ['packages/db/src/findCheck.ts', `export const findCheck = 1;\n`],
    right: ['packages/db/src/find-check.ts', `export const findCheck = 1;\n`],
  },
  noFocusedTests: {
    wrong: ['packages/db/src/a.test.ts', `it.only('answers', () => {});\n`],
    right: ['packages/db/src/a.test.ts', `it('answers', () => {});\n`],
  },
  noSkippedTests: {
    wrong: ['packages/db/src/a.test.ts', `it.skip('answers', () => {});\n`],
    right: ['packages/db/src/a.test.ts', `it('answers', () => {});\n`],
  },
};

/** The rules that a tree of one file breaks, each once. */
const lint = async ([file, text]: [string, string]): Promise<string[]> => {
  const top = await mkdtemp(join(tmpdir(), 'lint-rules-'));
  try {
    await cp(join(TOP, '.biome.json'), join(top, '.biome.json'));
    await mkdir(dirname(join(top, file)), { recursive: true });
    await writeFile(join(top, file), text);
    const biome = join(TOP, 'node_modules/@biomejs/biome/bin/biome');
    const said = await new Promise<string>((resolve) => {
      execFile(process.execPath, [biome, 'lint', '--reporter=json', '.'], { cwd: top }, (_error, stdout) =>
        resolve(stdout),
      );
    });
    const { diagnostics } = JSON.parse(said) as { diagnostics: { category: string }[] };
    const rules = diagnostics.map(({ category }) => category.split('/').at(-1) ?? category);
    return [...new Set(rules)];
  } finally {
    await rm(top, { recursive: true });
  }
};

describe('.biome.json', () => {
  it.each(Object.entries(samples))('enforces %s', async (rule, { wrong, right }) => {
    expect(await lint(wrong)).toEqual([rule]);
    expect(await lint(right)).toEqual([]);
  });
});
