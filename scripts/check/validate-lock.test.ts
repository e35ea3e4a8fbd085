import { findSurplusLocks, validateDependencies, validateLock } from './validate-lock.mjs';

const whole = {
  '': {},
  'packages/db': { optionalDependencies: { 'db-linux': '1' } },
  'node_modules/@vat/db': { resolved: 'packages/db', link: true },
  'node_modules/db-linux': { integrity: 'sha512-a' },
  'node_modules/tool': { integrity: 'sha512-b', optionalDependencies: { 'tool-linux': '1', '@tool/darwin': '1' } },
  'node_modules/tool-linux': { integrity: 'sha512-c', hasInstallScript: true },
  'node_modules/tool/node_modules/@tool/darwin': { integrity: 'sha512-d' },
};

describe('the lock', () => {
  test('with a hash for every package of every platform is accepted', () => {
    expect(validateLock(whole)).toEqual([]);
  });

  test('with an entry without a hash is rejected', () => {
    expect(validateLock({ ...whole, 'node_modules/tool-linux': {} })).toEqual([
      'package-lock.json: node_modules/tool-linux has no integrity',
    ]);
  });

  test('without a package of another platform is rejected', () => {
    const { 'node_modules/tool/node_modules/@tool/darwin': _left, ...rest } = whole;
    expect(validateLock(rest)).toEqual([
      'package-lock.json does not contain @tool/darwin, which node_modules/tool may need on another platform',
    ]);
  });

  test('with the address of a registry is rejected', () => {
    const entry = { integrity: 'sha512-b', resolved: 'https://registry.example/tool.tgz' };
    expect(validateLock({ '': {}, 'node_modules/tool': entry })).toEqual([
      'package-lock.json: node_modules/tool names an address (resolved)',
    ]);
  });

  test('is the only lock file', () => {
    expect(findSurplusLocks(['package-lock.json', 'scripts/prepare/hold-lock.mjs'])).toEqual([]);
    expect(findSurplusLocks(['apps/api/package-lock.json', 'yarn.lock'])).toEqual([
      'apps/api/package-lock.json is a second lock file',
      'yarn.lock is a second lock file',
    ]);
  });
});

describe('docs/dependencies.md', () => {
  const document = `# Dependencies

## Direct dependencies

| package | why |
|---|---|
| \`tool\`, \`@types/tool\` | builds, with \`other\` |

## Install scripts

| package | what |
|---|---|
| \`tool-linux\` | compiles |

## Overrides

| package | why |
|---|---|
| \`deep\` | a hash |
`;
  const project = {
    document,
    npmrc: 'audit=false\nignore-scripts=true\n',
    manifests: [{ dependencies: { '@vat/db': '1' }, devDependencies: { tool: '1', '@types/tool': '1' } }],
    overrides: { deep: '1.0.0' },
    packages: whole,
  };

  test('with every direct dependency, install script and override is accepted', () => {
    expect(validateDependencies(project)).toEqual([]);
  });

  test('without a dependency, or with a removed one, is rejected', () => {
    expect(
      validateDependencies({ ...project, manifests: [{ optionalDependencies: { tool: '1', fresh: '1' } }] }),
    ).toEqual([
      'docs/dependencies.md, Direct dependencies: fresh is missing (package.json)',
      'docs/dependencies.md, Direct dependencies: @types/tool should be removed (package.json)',
    ]);
  });

  test('without an install script or an override is rejected', () => {
    const packages = {
      ...whole,
      'node_modules/a/node_modules/@b/c': { integrity: 'sha512-e', hasInstallScript: true },
    };
    expect(validateDependencies({ ...project, packages, overrides: {} })).toEqual([
      'docs/dependencies.md, Install scripts: @b/c is missing (hasInstallScript in package-lock.json)',
      'docs/dependencies.md, Overrides: deep should be removed (overrides in package.json)',
    ]);
  });

  test('is rejected if npm would run install scripts', () => {
    expect(validateDependencies({ ...project, npmrc: 'ignore-scripts=false\n' })).toEqual([
      '.npmrc does not contain ignore-scripts=true',
    ]);
  });
});
