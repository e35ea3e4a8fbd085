import { checkRules } from './check-rules.mjs';

const manifests = {
  '.': { devDependencies: { jest: '*', supertest: '*', bullmq: '*', '@types/express': '*' } },
  'packages/domain': { dependencies: { 'typeid-js': '*' } },
  'packages/contracts': { dependencies: { '@vat/domain': '*', zod: '*' } },
  'packages/db': { dependencies: { '@vat/domain': '*', '@prisma/client': '*', pg: '*' } },
  'packages/queues': { dependencies: { '@vat/domain': '*', bullmq: '*', ioredis: '*' } },
  'packages/vies': { dependencies: { '@vat/domain': '*', got: '*', express: '*' } },
  'packages/runtime': { dependencies: { winston: '*' } },
  'packages/embedded': { dependencies: { pg: '*' }, exports: { '.': {}, './paths': {} } },
  'packages/receiver': {},
  'packages/testkit': { dependencies: { '@vat/embedded': '*', ioredis: '*' } },
  'apps/api': {
    dependencies: { '@vat/db': '*', '@vat/domain': '*', express: '*', pg: '*', got: '*', winston: '*' },
    devDependencies: { 'react-dom': '*' },
  },
  'apps/stack': { dependencies: { '@vat/embedded': '*', pg: '*' } },
  'apps/worker': { dependencies: { '@vat/queues': '*', bullmq: '*', ioredis: '*' } },
  'apps/dashboard': {
    dependencies: { '@vat/contracts': '*', '@vat/db': '*', react: '*' },
    devDependencies: { 'react-dom': '*' },
  },
};

const judge = (files: Record<string, string>) => checkRules({ files, manifests });

/** One file that breaks `rule`, and its twin: the same thing where, or the way, it is allowed. */
type Sample = { rule: string; wrong: [file: string, text: string]; right: [file: string, text: string] };

const samples: Record<string, Sample> = {
  'domain imports nothing of ours': {
    rule: 'imports',
    wrong: ['packages/domain/src/a.ts', `import { x } from '@vat/runtime';`],
    right: ['packages/domain/src/a.ts', `import { x } from './b.js';`],
  },
  'domain does no input or output': {
    rule: 'imports',
    wrong: ['packages/domain/src/a.ts', `import { readFile } from 'node:fs/promises';`],
    right: ['packages/domain/src/a.ts', `import { createHash } from 'node:crypto';`],
  },
  'packages import domain alone': {
    rule: 'imports',
    wrong: ['packages/contracts/src/a.ts', `import type { X } from '@vat/db';`],
    right: ['packages/contracts/src/a.ts', `import type { X } from '@vat/domain';`],
  },
  'runtime imports nothing of ours': {
    rule: 'imports',
    wrong: ['packages/runtime/src/a.ts', `export * from '@vat/domain';`],
    right: ['packages/runtime/src/a.ts', `export * from './log.js';`],
  },
  'only queues knows BullMQ': {
    rule: 'imports',
    wrong: ['apps/worker/src/a.ts', `import { Worker } from 'bullmq';`],
    right: ['packages/queues/src/a.ts', `import { Worker } from 'bullmq';`],
  },
  'not even a type of BullMQ leaves queues': {
    rule: 'imports',
    wrong: ['apps/worker/src/a.ts', `export type Job = import('bullmq').Job;`],
    right: ['packages/queues/src/a.ts', `export type Job = import('bullmq').Job;`],
  },
  'BullMQ is not loaded late either': {
    rule: 'imports',
    wrong: ['apps/worker/src/a.ts', `export const load = () => import('bullmq');`],
    right: ['packages/queues/src/a.ts', `export const load = () => import('bullmq');`],
  },
  'BullMQ is not required either': {
    rule: 'imports',
    wrong: ['apps/worker/src/a.ts', `const { Worker } = require('bullmq');`],
    right: ['packages/queues/src/a.ts', `const { Worker } = require('bullmq');`],
  },
  'only queues and testkit speak to Redis': {
    rule: 'imports',
    wrong: ['apps/worker/src/a.ts', `import { Redis } from 'ioredis';`],
    right: ['packages/testkit/src/a.ts', `import { Redis } from 'ioredis';`],
  },
  'only db knows Prisma': {
    rule: 'imports',
    wrong: ['apps/api/src/a.ts', `import { PrismaClient } from '@prisma/client';`],
    right: ['packages/db/src/a.ts', `import { PrismaClient } from '@prisma/client';`],
  },
  'the generated client stays in db': {
    rule: 'imports',
    wrong: ['apps/api/src/a.ts', `import { PrismaClient } from '../../../packages/db/src/generated/client.js';`],
    right: ['packages/db/src/a.ts', `import { PrismaClient } from './generated/client.js';`],
  },
  'the stack app does not speak to Postgres itself': {
    rule: 'imports',
    wrong: ['apps/stack/src/a.ts', `import pg from 'pg';`],
    right: ['packages/embedded/src/a.ts', `import pg from 'pg';`],
  },
  'only the sources and webhooks know got': {
    rule: 'imports',
    wrong: ['apps/api/src/a.ts', `import { got } from 'got';`],
    right: ['packages/vies/src/a.ts', `import { got } from 'got';`],
  },
  'no other way to call out': {
    rule: 'outgoing-calls',
    wrong: ['apps/api/src/a.ts', `export const look = () => fetch('https://example.eu');`],
    right: ['packages/vies/src/a.ts', `export const look = () => fetch('https://example.eu');`],
  },
  'Node’s own client is a call out too': {
    rule: 'outgoing-calls',
    wrong: ['apps/api/src/a.ts', `import * as web from 'node:https'; web.request('https://example.eu');`],
    right: ['apps/api/src/a.ts', `import * as web from 'node:https'; web.createServer();`],
  },
  'only the api app serves through Express': {
    rule: 'imports',
    wrong: ['packages/vies/src/a.ts', `import express from 'express';`],
    right: ['apps/api/src/a.ts', `import express, { type Request } from 'express';`],
  },
  'only runtime knows winston': {
    rule: 'imports',
    wrong: ['apps/api/src/a.ts', `import { createLogger } from 'winston';`],
    right: ['packages/runtime/src/a.ts', `import { createLogger } from 'winston';`],
  },
  'apps do not import apps by name': {
    rule: 'imports',
    wrong: ['apps/api/src/a.ts', `import { x } from '@vat/worker';`],
    right: ['apps/api/src/a.ts', `import { x } from '@vat/db';`],
  },
  'apps do not import apps by path': {
    rule: 'imports',
    wrong: ['apps/api/src/a.ts', `import { x } from '../../worker/src/b.js';`],
    right: ['apps/api/src/routes/a.ts', `import { x } from '../b.js';`],
  },
  'scripts run an app and know nothing inside it': {
    rule: 'imports',
    wrong: ['scripts/start.mjs', `await import('../apps/stack/dist/start-stack.js');`],
    right: ['scripts/start.mjs', `await import('../apps/stack/dist/main.js');`],
  },
  'packages do not import apps': {
    rule: 'imports',
    wrong: ['packages/testkit/src/a.ts', `import { x } from '@vat/api';`],
    right: ['packages/testkit/src/a.ts', `import { x } from '@vat/embedded';`],
  },
  'embedded servers are for the stack app and tests': {
    rule: 'imports',
    wrong: ['apps/api/src/a.ts', `import { x } from '@vat/embedded';`],
    right: ['apps/stack/src/a.ts', `import { x } from '@vat/embedded';`],
  },
  'only what is bundled may keep what it imports among its development dependencies': {
    rule: 'dependencies',
    wrong: ['apps/api/src/a.ts', `import { createRoot } from 'react-dom';`],
    right: ['apps/dashboard/src/a.ts', `import { createRoot } from 'react-dom';`],
  },
  'testkit is for tests': {
    rule: 'imports',
    wrong: ['packages/db/src/a.ts', `import { x } from '@vat/testkit';`],
    right: ['packages/db/src/a.test.ts', `import { x } from '@vat/testkit';`],
  },
  'the dashboard sees no rows': {
    rule: 'imports',
    wrong: ['apps/dashboard/src/a.tsx', `import type { Row } from '@vat/db'; export const A = () => <p />;`],
    right: ['apps/dashboard/src/a.tsx', `import type { Check } from '@vat/contracts'; export const A = () => <p />;`],
  },
  'receiver has no dependency': {
    rule: 'dependencies',
    wrong: ['packages/receiver/src/a.ts', `import { z } from 'zod';`],
    right: ['packages/receiver/src/a.ts', `import { createHmac } from 'node:crypto';`],
  },
  'a package is entered through its index': {
    rule: 'imports',
    wrong: ['apps/api/src/a.ts', `import { x } from '@vat/db/src/rows.js';`],
    right: ['apps/stack/src/a.ts', `import { x } from '@vat/embedded/paths';`],
  },
  'a package names itself by relative paths': {
    rule: 'imports',
    wrong: ['packages/db/src/a.ts', `import { x } from '@vat/db';`],
    right: ['packages/db/src/a.ts', `import { x } from './index.js';`],
  },
  'a name that is no package is refused': {
    rule: 'imports',
    wrong: ['apps/api/src/a.ts', `import { x } from '@vat/utils';`],
    right: ['apps/api/src/a.ts', `import { x } from '@vat/domain';`],
  },
  'a new folder needs a line in the table': {
    rule: 'imports',
    wrong: ['packages/helpers/src/a.ts', `export const x = 1;`],
    right: ['packages/domain/src/a.ts', `export const x = 1;`],
  },
  'a dependency is declared where it is used': {
    rule: 'dependencies',
    wrong: ['packages/domain/src/a.ts', `import { z } from 'zod';`],
    right: ['packages/domain/src/a.ts', `import { newId } from 'typeid-js';`],
  },
  'what only tests need is declared at the top': {
    rule: 'dependencies',
    wrong: ['apps/api/src/a.ts', `import request from 'supertest';`],
    right: ['apps/api/src/a.test.ts', `import request from 'supertest';`],
  },
  'process.env is read in main.ts alone': {
    rule: 'process-env',
    wrong: ['apps/api/src/compose.ts', `export const port = process.env.PORT;`],
    right: ['apps/api/src/main.ts', `start(process.env);`],
  },
  'process.env is read once': {
    rule: 'process-env',
    wrong: ['apps/api/src/main.ts', `start(process.env); stop(process.env.PORT);`],
    right: ['apps/api/src/main.ts', `const { env } = process; start(env); stop(env.PORT);`],
  },
  'process.env by another name is process.env': {
    rule: 'process-env',
    wrong: ['packages/db/src/a.ts', `import { env } from 'node:process'; export const url = env.DATABASE_URL;`],
    right: ['packages/db/src/a.ts', `import { pid } from 'node:process'; export const name = pid;`],
  },
  'process.env taken apart is process.env': {
    rule: 'process-env',
    wrong: ['packages/db/src/a.ts', `const { env: settings } = globalThis.process; export { settings };`],
    right: ['packages/db/src/a.ts', `const { pid } = globalThis.process; export { pid };`],
  },
  'jest.mock is banned': {
    rule: 'no-mocks',
    wrong: ['apps/api/src/a.test.ts', `jest.mock('./b.js');`],
    right: ['apps/api/src/a.test.ts', `jest.setTimeout(10_000);`],
  },
  'jest.unstable_mockModule is banned': {
    rule: 'no-mocks',
    wrong: ['apps/api/src/a.test.ts', `import.meta.jest.unstable_mockModule('./b.js', () => ({}));`],
    right: ['apps/api/src/a.test.ts', `import.meta.jest.fn();`],
  },
  'jest.spyOn is banned under any name': {
    rule: 'no-mocks',
    wrong: ['apps/api/src/a.test.ts', `import { jest as j } from '@jest/globals'; j.spyOn(console, 'log');`],
    right: ['apps/api/src/a.test.ts', `import { jest as j } from '@jest/globals'; j.fn();`],
  },
  'fake timers are banned': {
    rule: 'no-mocks',
    wrong: ['apps/api/src/a.test.ts', `import { jest } from '@jest/globals'; const { useFakeTimers } = jest;`],
    right: ['apps/api/src/a.test.ts', `import { jest } from '@jest/globals'; const { fn } = jest;`],
  },
  'tests are not left for later': {
    rule: 'no-unfinished-tests',
    wrong: ['apps/api/src/a.test.ts', `it.todo('answers');`],
    right: ['apps/api/src/a.test.ts', `it.each([1])('answers %s', () => {});`],
  },
  'a file imports no cycle of one': {
    rule: 'cycles',
    wrong: ['packages/db/src/a.ts', `import { x } from './a.js';`],
    right: ['packages/db/src/a.ts', `import { x } from './b.js';`],
  },
  'a file can be parsed': {
    rule: 'syntax',
    wrong: ['packages/db/src/a.ts', `export const x = ;`],
    right: ['packages/db/src/a.ts', `export const x = <T,>(value: T): T => value;`],
  },
};

describe('checkRules', () => {
  it.each(Object.entries(samples))('%s', (_title, { rule, wrong, right }) => {
    expect(judge({ [wrong[0]]: wrong[1] })).toEqual([expect.objectContaining({ file: wrong[0], rule })]);
    expect(judge({ [right[0]]: right[1] })).toEqual([]);
  });

  it('names the line of the breach', () => {
    expect(judge({ 'apps/api/src/a.ts': `const é = '€';\n\nexport const b = process.env;` })).toEqual([
      expect.objectContaining({ line: 3 }),
    ]);
  });

  it('finds a cycle over several files and names its shortest chain', () => {
    const files = {
      'packages/db/src/a.ts': `import { b } from './b.js';`,
      'packages/db/src/b.ts': `import { c } from './c.js';`,
      'packages/db/src/c.ts': `export { a } from './a.js';`,
    };
    expect(judge(files)).toEqual([
      expect.objectContaining({
        rule: 'cycles',
        message:
          'import cycle: packages/db/src/a.ts → packages/db/src/b.ts → packages/db/src/c.ts → packages/db/src/a.ts',
      }),
    ]);
  });

  it('finds a cycle of types alone', () => {
    const files = {
      'packages/db/src/a.ts': `import type { B } from './b.js'; export type A = B;`,
      'packages/db/src/b.ts': `import type { A } from './a.js'; export type B = A[];`,
    };
    expect(judge(files).map(({ rule }) => rule)).toEqual(['cycles']);
  });

  it('finds a cycle through two packages', () => {
    const files = {
      'packages/testkit/src/index.ts': `export { start } from '@vat/embedded';`,
      'packages/embedded/src/index.ts': `export { world } from '@vat/testkit';`,
    };
    expect(judge(files).map(({ rule }) => rule)).toEqual(['imports', 'cycles']);
  });

  it('accepts two ways to the same file', () => {
    const files = {
      'packages/db/src/a.ts': `import './b.js'; import './c.js';`,
      'packages/db/src/b.ts': `import './c.js';`,
      'packages/db/src/c.ts': `export const c = 1;`,
    };
    expect(judge(files)).toEqual([]);
  });
});
