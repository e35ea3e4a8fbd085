import { checkPackages } from './package-rules.mjs';

describe('checkPackages', () => {
  it('accepts a package with allowed dependencies', () => {
    expect(
      checkPackages({
        'packages/queues': {
          dependencies: { '@vat/domain': '0.1.0', bullmq: '6' },
          devDependencies: { '@vat/testkit': '0.1.0' },
        },
      }),
    ).toEqual([]);
  });

  it.each([
    ['packages/domain', '@vat/db', 'packages/domain may depend on nothing of ours, not on @vat/db'],
    ['packages/db', '@vat/testkit', 'packages/db may depend on domain, not on @vat/testkit'],
    [
      'apps/dashboard',
      '@vat/db',
      'apps/dashboard may depend on contracts, domain, evidence, spreadsheet, not on @vat/db',
    ],
    ['apps/worker', '@vat/api', /^apps\/worker may depend on .*, not on @vat\/api$/],
    ['apps/api', 'bullmq', 'apps/api depends on bullmq: only queues uses BullMQ (and bench, to compare)'],
    ['apps/worker', '@prisma/client', 'apps/worker depends on @prisma/client: only db uses Prisma'],
    ['packages/webhooks', 'got', /^packages\/webhooks depends on got: /],
  ])('rejects that %s depends on %s', (workspace, name, violation) => {
    const found = checkPackages({ [workspace]: { dependencies: { [name]: '1' } } });
    expect(found).toHaveLength(1);
    expect(found[0]).toEqual(typeof violation === 'string' ? violation : expect.stringMatching(violation));
  });

  it('rejects that a published package depends on a private one, and accepts that it bundles one', () => {
    const evidence = { name: '@vat/evidence', private: true };
    const check = (manifest: object) =>
      checkPackages({ 'packages/evidence': evidence, 'packages/client': { name: '@vat/client', ...manifest } });
    expect(check({ dependencies: { '@vat/evidence': '0.1.0' } })).toEqual([
      'packages/client is published and cannot depend on @vat/evidence, which is private; bundle it',
    ]);
    expect(check({ devDependencies: { '@vat/evidence': '0.1.0' } })).toEqual([]);
  });

  it('rejects a package that is not in the table', () => {
    expect(checkPackages({ 'packages/new': {} })).toHaveLength(1);
  });
});
