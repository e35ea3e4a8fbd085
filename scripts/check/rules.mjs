// @ts-check
/**
 * The rules about who may know what: the one table, read by `judge-file.mjs` and written out for people in
 * CONTRIBUTING.md. A folder with source in it that has no line here is refused, so that a new one is thought about.
 *
 * @typedef {object} Room One folder with a purpose: a package, an app, or a folder of scripts.
 * @property {readonly string[]} ours Packages (names below `@vat/`) that it may import.
 * @property {readonly string[]} [builtins] When given, the only Node modules it may import.
 * @property {readonly string[]} [neighbours] Rooms that it may reach by a relative path.
 * @property {boolean} [fetches] May open outgoing HTTP calls.
 * @property {boolean} [bundled] Its build holds all that it imports, so that its development dependencies are enough.
 * @property {boolean} [launches] May run an app's built `dist/main.js` in its own process.
 *
 * @typedef {object} Keeper A third-party module that only some rooms may know.
 * @property {readonly string[]} modules Names; a trailing `/*` takes in a whole scope.
 * @property {readonly string[]} rooms
 * @property {string} why
 *
 * @typedef {object} Ban A property that code may not read from a global or module.
 * @property {string} rule
 * @property {readonly string[]} objects Globals, or what is imported from a module of the same name.
 * @property {readonly string[]} properties
 * @property {readonly RegExp[]} except Files to which it does not apply.
 * @property {string} why
 */

const SOURCES = [
  'db',
  'vies',
  'enrichment',
  'webhooks',
  'evidence',
  'queues',
  'contracts',
  'domain',
  'runtime',
  'receiver',
  'spreadsheet',
];

/** @type {Readonly<Record<string, Room>>} */
export const ROOMS = {
  // No input or output; these two are arithmetic.
  'packages/domain': { ours: [], builtins: ['node:crypto', 'node:zlib'] },
  'packages/contracts': { ours: ['domain'], builtins: [] },
  // Runs in the browser too.
  'packages/spreadsheet': { ours: ['domain'], builtins: [] },
  'packages/db': { ours: ['domain'] },
  'packages/queues': { ours: ['domain'] },
  'packages/vies': { ours: ['domain'], fetches: true },
  'packages/enrichment': { ours: ['domain'], fetches: true },
  'packages/webhooks': { ours: ['domain'], fetches: true },
  'packages/evidence': { ours: ['domain', 'spreadsheet'], fetches: true },
  'packages/runtime': { ours: [] },
  'packages/embedded': { ours: [] },
  'packages/receiver': { ours: [], builtins: ['node:crypto'] },
  'packages/testkit': { ours: [...SOURCES, 'embedded'], fetches: true },
  'apps/api': { ours: SOURCES },
  'apps/worker': { ours: SOURCES },
  'apps/admin': { ours: SOURCES },
  'apps/vies-sandbox': { ours: SOURCES },
  // It watches over its own children, which includes asking them whether they are ready.
  'apps/stack': { ours: [...SOURCES, 'embedded'], fetches: true },
  // It shows the receivers of docs/webhooks.md as they stand there.
  'apps/dashboard': {
    ours: ['contracts', 'domain', 'spreadsheet'],
    builtins: [],
    neighbours: ['docs'],
    fetches: true,
    bundled: true,
  },
  bench: { ours: [...SOURCES, 'embedded', 'testkit'], neighbours: ['scripts'], fetches: true },
  scripts: { ours: [...SOURCES, 'embedded', 'testkit'], neighbours: ['bench'], fetches: true, launches: true },
};

/** @type {readonly Keeper[]} */
export const KEEPERS = [
  { modules: ['bullmq'], rooms: ['packages/queues', 'bench'], why: 'only queues knows BullMQ (and bench, to compare)' },
  {
    modules: ['@bull-board/*'],
    rooms: ['packages/queues'],
    why: 'only queues knows BullMQ, and so the page about its queues',
  },
  {
    modules: ['ioredis'],
    rooms: ['packages/queues', 'packages/embedded', 'packages/testkit', 'bench'],
    why: 'only queues (and embedded, testkit, bench) speaks to Redis',
  },
  { modules: ['graphile-worker'], rooms: ['bench'], why: "bench compares itself with it; jobs are BullMQ's" },
  { modules: ['prisma', '@prisma/*'], rooms: ['packages/db'], why: 'only db knows Prisma' },
  {
    modules: ['pg'],
    rooms: ['packages/db', 'packages/embedded', 'packages/testkit', 'scripts', 'bench'],
    why: 'only db (and embedded, testkit, scripts, bench) speaks to Postgres',
  },
  {
    modules: ['got', 'axios', 'node-fetch', 'request-filtering-agent'],
    rooms: ['packages/vies', 'packages/enrichment', 'packages/evidence', 'bench'],
    why: 'vies, enrichment and evidence call out through a library (bench compares); webhooks has its own guarded sender',
  },
  {
    modules: ['undici'],
    rooms: ['packages/webhooks'],
    why: 'only webhooks needs a bare dispatcher: nothing that follows, unpacks or repeats stands between it and its guard',
  },
  {
    modules: ['express', 'express/*', 'helmet'],
    rooms: ['apps/api'],
    why: 'only the api app serves HTTP through Express',
  },
  {
    modules: ['pkijs', 'asn1js'],
    rooms: ['packages/evidence'],
    why: 'only evidence takes time-stamps and certificates apart',
  },
  { modules: ['pdfkit', 'fontkit'], rooms: ['packages/evidence'], why: 'only evidence writes PDFs' },
  { modules: ['winston', 'winston/*'], rooms: ['packages/runtime'], why: 'only runtime knows how lines are logged' },
];

const IN_TESTS = /\.test\.tsx?$/;

/** @type {readonly Ban[]} */
export const BANS = [
  {
    rule: 'process-env',
    objects: ['process'],
    properties: ['env'],
    except: [/^apps\/[^/]+\/src\/main\.ts$/, /^(scripts|bench)\//, /^packages\/testkit\/src\//, /^[^/]+\.config\.\w+$/],
    why: 'process.env is read once, in main.ts, and passed on',
  },
  {
    rule: 'no-mocks',
    objects: ['jest'],
    properties: [
      'mock',
      'doMock',
      'setMock',
      'unstable_mockModule',
      'createMockFromModule',
      'spyOn',
      'replaceProperty',
      'useFakeTimers',
      'setSystemTime',
    ],
    except: [],
    why: 'tests use real servers and a clock that is passed in',
  },
  {
    rule: 'no-unfinished-tests',
    objects: ['it', 'test', 'describe'],
    properties: ['todo', 'failing'],
    except: [],
    why: 'a test is written and holds, or it is not there',
  },
  {
    rule: 'outgoing-calls',
    objects: ['http', 'https'],
    properties: ['request', 'get'],
    except: [IN_TESTS],
    why: 'only vies, enrichment, webhooks and evidence make outgoing calls',
  },
  {
    rule: 'outgoing-calls',
    objects: ['globalThis'],
    properties: ['fetch'],
    except: [IN_TESTS],
    why: 'only vies, enrichment, webhooks and evidence make outgoing calls',
  },
];
