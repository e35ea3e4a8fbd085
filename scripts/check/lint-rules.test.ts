import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const TOP = fileURLToPath(new URL('../..', import.meta.url));

type File = [file: string, text: string];

/** A file that breaks one rule of .biome.json alone, and the same thing where, or the way, it is allowed. */
type Sample = { wrong: File; right: File; rule?: string; others?: File[] };

const MANIFEST: File = ['packages/db/package.json', '{"dependencies":{"pg":"8"},"devDependencies":{"fast-check":"4"}}'];

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
  noImportCycles: {
    others: [['packages/db/src/b.ts', `import type { A } from './a.js';\nexport type B = A[];\n`]],
    wrong: ['packages/db/src/a.ts', `import type { B } from './b.js';\nexport type A = B | null;\n`],
    right: ['packages/db/src/a.ts', `export type A = string;\n`],
  },
  noProcessEnv: {
    wrong: ['apps/api/src/compose.ts', `export const a = process.env;\n`],
    right: ['apps/api/src/main.ts', `export const a = process.env;\n`],
  },
  'noUndeclaredDependencies, undeclared': {
    rule: 'noUndeclaredDependencies',
    others: [MANIFEST],
    wrong: ['packages/db/src/a.ts', `import { Queue } from 'bullmq';\nexport const a = Queue;\n`],
    right: ['packages/db/src/a.ts', `import { Pool } from 'pg';\nexport const a = Pool;\n`],
  },
  'noUndeclaredDependencies, for tests alone': {
    rule: 'noUndeclaredDependencies',
    others: [MANIFEST],
    wrong: ['packages/db/src/a.ts', `import { assert } from 'fast-check';\nexport const a = assert;\n`],
    right: ['packages/db/src/a.test.ts', `import { assert } from 'fast-check';\nexport const a = assert;\n`],
  },
  'noUndeclaredDependencies, bundled into the command': {
    rule: 'noUndeclaredDependencies',
    others: [['packages/client/package.json', '{"devDependencies":{"zod":"4"}}']],
    wrong: ['packages/client/src/a.ts', `import { z } from 'zod';\nexport const a = z;\n`],
    right: ['packages/client/src/command/a.ts', `import { z } from 'zod';\nexport const a = z;\n`],
  },
  'noRestrictedImports, into another package': {
    rule: 'noRestrictedImports',
    wrong: ['packages/db/src/a.ts', `import { b } from '../../../packages/domain/src/b.js';\nexport const a = b;\n`],
    right: ['packages/db/src/a.ts', `import { b } from './b.js';\nexport const a = b;\n`],
  },
  'noRestrictedImports, an outgoing call through Node': {
    rule: 'noRestrictedImports',
    wrong: ['apps/api/src/a.ts', `import { request } from 'node:https';\nexport const a = request;\n`],
    right: ['apps/api/src/a.ts', `import { createServer } from 'node:https';\nexport const a = createServer;\n`],
  },
  'noRestrictedImports, input or output in the domain': {
    rule: 'noRestrictedImports',
    wrong: ['packages/domain/src/a.ts', `import { readFileSync } from 'node:fs';\nexport const a = readFileSync;\n`],
    right: ['packages/domain/src/a.ts', `import { createHash } from 'node:crypto';\nexport const a = createHash;\n`],
  },
  'noRestrictedImports, a rule of the trade outside the domain': {
    rule: 'noRestrictedImports',
    wrong: ['apps/worker/src/a.ts', `import { decideLookup } from '@vat/domain';\nexport const a = decideLookup;\n`],
    right: ['apps/worker/src/a.ts', `import { performLookup } from '@vat/domain';\nexport const a = performLookup;\n`],
    others: [['apps/worker/package.json', '{"dependencies":{"@vat/domain":"0"}}']],
  },
  noNodejsModules: {
    wrong: ['packages/contracts/src/a.ts', `import { createHash } from 'node:crypto';\nexport const a = createHash;\n`],
    right: [
      'packages/contracts/src/a.test.ts',
      `import { createHash } from 'node:crypto';\nexport const a = createHash;\n`,
    ],
  },
  noRestrictedGlobals: {
    wrong: ['apps/api/src/a.ts', `export const a = () => fetch('https://vat.example');\n`],
    right: ['packages/outgoing/src/a.ts', `export const a = () => fetch('https://vat.example');\n`],
  },
  'test rules, mocks': {
    rule: 'plugin',
    wrong: ['packages/db/src/a.test.ts', `jest.spyOn(console, 'log');\n`],
    right: ['packages/db/src/a.test.ts', `jest.setTimeout(90_000);\n`],
  },
  'test rules, unfinished tests': {
    rule: 'plugin',
    wrong: ['packages/db/src/a.test.ts', `it.todo('answers');\n`],
    right: ['packages/db/src/a.test.ts', `it('answers', () => {});\n`],
  },
};

/** The rules that these files violate, without duplicates. */
const lint = async (files: readonly File[]): Promise<string[]> => {
  const top = await mkdtemp(join(tmpdir(), 'lint-rules-'));
  try {
    for (const file of ['.biome.json', 'scripts/check/test-rules.grit']) await cp(join(TOP, file), join(top, file));
    for (const [file, text] of files) {
      await mkdir(dirname(join(top, file)), { recursive: true });
      await writeFile(join(top, file), text);
    }
    const biome = join(TOP, 'node_modules/@biomejs/biome/bin/biome');
    const output = await new Promise<string>((resolve) => {
      execFile(process.execPath, [biome, 'lint', '--reporter=json', '.'], { cwd: top }, (_error, stdout) =>
        resolve(stdout),
      );
    });
    const { diagnostics } = JSON.parse(output) as { diagnostics: { category: string }[] };
    const rules = diagnostics.map(({ category }) => category.split('/').at(-1) ?? category);
    return [...new Set(rules)];
  } finally {
    await rm(top, { recursive: true });
  }
};

describe('.biome.json', () => {
  it.each(Object.entries(samples))('enforces %s', async (title, { wrong, right, rule = title, others = [] }) => {
    expect(await lint([...others, wrong])).toContain(rule);
    expect(await lint([...others, right])).toEqual([]);
  });
});
