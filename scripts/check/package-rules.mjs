// @ts-check
/**
 * Which package may depend on which. Source files can import only what their package.json declares (Biome's
 * `noUndeclaredDependencies`), so these rules apply to the package.json files.
 *
 * @typedef {{ name?: string, private?: boolean, dependencies?: Record<string, string>, devDependencies?: Record<string, string>,
 *   optionalDependencies?: Record<string, string>, peerDependencies?: Record<string, string> }} Manifest
 */

const SOURCES = [
  'contracts',
  'db',
  'domain',
  'enrichment',
  'evidence',
  'mail',
  'outgoing',
  'queues',
  'receiver',
  'runtime',
  'spreadsheet',
  'vies',
  'webhooks',
];

/**
 * Workspace → names below `@vat/` that it may depend on. `.` means scripts and bench, which run inside a checkout.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const ALLOWED_PACKAGES = {
  '.': [...SOURCES, 'composition', 'embedded', 'testkit'],
  'packages/domain': [],
  'packages/contracts': ['domain'],
  'packages/spreadsheet': ['domain'],
  'packages/db': ['domain'],
  'packages/queues': ['domain', 'runtime'],
  'packages/outgoing': ['domain'],
  'packages/vies': ['domain', 'outgoing'],
  'packages/enrichment': ['domain', 'outgoing'],
  'packages/webhooks': ['domain'],
  'packages/mail': ['domain'],
  'packages/evidence': ['domain', 'outgoing', 'spreadsheet'],
  'packages/composition': ['db', 'domain', 'evidence', 'queues', 'runtime'],
  'packages/runtime': [],
  'packages/embedded': [],
  'packages/receiver': [],
  'packages/client': ['evidence', 'receiver'],
  'packages/testkit': [...SOURCES, 'embedded'],
  'apps/api': [...SOURCES, 'composition'],
  'apps/worker': [...SOURCES, 'composition'],
  'apps/admin': [...SOURCES, 'composition'],
  'apps/vies-sandbox': SOURCES,
  'apps/stack': [...SOURCES, 'embedded'],
  'apps/dashboard': ['contracts', 'domain', 'evidence', 'spreadsheet'],
};

/**
 * Third-party packages that only some workspaces may depend on, with the reason.
 *
 * @type {readonly { packages: RegExp, allowed: readonly string[], why: string }[]}
 */
const RESERVED_PACKAGES = [
  { packages: /^bullmq$/, allowed: ['packages/queues', '.'], why: 'only queues uses BullMQ (and bench, to compare)' },
  { packages: /^@bull-board\//, allowed: ['packages/queues'], why: 'only queues uses BullMQ and its board' },
  {
    packages: /^ioredis$/,
    allowed: ['packages/queues', 'packages/embedded', 'packages/testkit'],
    why: 'only queues, embedded and testkit connect to Redis',
  },
  { packages: /^graphile-worker$/, allowed: ['.'], why: 'only bench compares with it' },
  { packages: /^(prisma|@prisma\/.*)$/, allowed: ['packages/db', '.'], why: 'only db uses Prisma' },
  {
    packages: /^pg$/,
    allowed: ['packages/db', 'packages/embedded', 'packages/testkit', '.'],
    why: 'only db (and embedded, testkit, scripts, bench) connects to Postgres',
  },
  {
    packages: /^(got|axios|node-fetch|request-filtering-agent)$/,
    allowed: ['packages/outgoing', '.'],
    why: 'only outgoing makes calls to upstreams (and bench, to compare)',
  },
  {
    packages: /^undici$/,
    allowed: ['packages/webhooks'],
    why: 'only webhooks needs a bare dispatcher behind its guard',
  },
  {
    packages: /^(express|helmet)$/,
    allowed: ['apps/api', '.'],
    why: 'only the API serves HTTP through Express (and bench, to compare)',
  },
  {
    packages: /^(pkijs|asn1js)$/,
    allowed: ['packages/evidence'],
    why: 'only evidence parses time-stamps and certificates',
  },
  { packages: /^(pdfkit|fontkit)$/, allowed: ['packages/evidence'], why: 'only evidence writes PDFs' },
  { packages: /^nodemailer$/, allowed: ['packages/mail'], why: 'only mail sends e-mail' },
  { packages: /^winston$/, allowed: ['packages/runtime'], why: 'only runtime configures logging' },
  { packages: /^@opentelemetry\//, allowed: ['packages/runtime'], why: 'only runtime records and exports traces' },
];

/**
 * The packages that a published package needs and that are not published. It may bundle them as development dependencies.
 *
 * @param {Manifest} manifest
 * @param {Readonly<Record<string, Manifest>>} manifests
 */
const findUnpublished = (manifest, manifests) =>
  manifest.private
    ? []
    : Object.values(manifests).filter((other) => other.private && other.name && manifest.dependencies?.[other.name]);

/**
 * Checks every workspace's package.json against the two tables above. Tests may use `@vat/testkit` and each other's
 * development dependencies everywhere.
 *
 * @param {Readonly<Record<string, Manifest>>} manifests workspace folder → its package.json; `.` is the top level's
 * @returns {string[]} one line per violation
 */
export const checkPackages = (manifests) =>
  Object.entries(manifests).flatMap(([workspace, manifest]) => {
    const allowed = ALLOWED_PACKAGES[workspace];
    if (!allowed)
      return [`${workspace} has no line in scripts/check/package-rules.mjs; add the packages that it may use`];
    const required = { ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.peerDependencies };
    const unpublished = findUnpublished(manifest, manifests).map(
      ({ name }) => `${workspace} is published and cannot depend on ${name}, which is private; bundle it`,
    );
    const violations = Object.keys({ ...required, ...manifest.devDependencies }).flatMap((name) => {
      const isForTests = !(name in required);
      if (name.startsWith('@vat/')) {
        const ours = name.slice('@vat/'.length);
        if (allowed.includes(ours) || (isForTests && (ours === 'testkit' || ours === 'receiver'))) return [];
        return [`${workspace} may depend on ${allowed.join(', ') || 'nothing of ours'}, not on ${name}`];
      }
      const rule = RESERVED_PACKAGES.find(({ packages }) => packages.test(name));
      return !rule || rule.allowed.includes(workspace) ? [] : [`${workspace} depends on ${name}: ${rule.why}`];
    });
    return [...unpublished, ...violations];
  });
