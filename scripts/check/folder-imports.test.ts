import { findMutualImports } from './folder-imports.mjs';

test('two folders that import each other are found, whichever files do', () => {
  expect(
    findMutualImports({
      'packages/db/src/batch/lines.ts': `import { a } from '../request/rows.js';\n`,
      'packages/db/src/request/rows.ts': 'export const a = 1;\n',
      'packages/db/src/request/settle.ts': `import type { B } from '../batch/batches.js';\n`,
    }),
  ).toEqual([
    'packages/db/src/batch and packages/db/src/request import each other: packages/db/src/batch/lines.ts, packages/db/src/request/settle.ts',
  ]);
});

test('one direction, the folder above, other programs and tests are no violation', () => {
  expect(
    findMutualImports({
      'apps/api/src/compose.ts': `import { a } from './routes/a.js';\nimport { b } from './http/b.js';\n`,
      'apps/api/src/routes/a.ts': `import { c } from '../cached.js';\nimport { b } from '../http/b.js';\n`,
      'apps/api/src/http/b.test.ts': `import { a } from '../routes/a.js';\n`,
      'apps/worker/src/http/b.ts': `import { a } from '../routes/a.js';\n`,
    }),
  ).toEqual([]);
});
