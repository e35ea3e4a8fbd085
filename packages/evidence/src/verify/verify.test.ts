import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { jest } from '@jest/globals';
import fc from 'fast-check';
import { sampleId, sampleSource } from '../dossier/sample-source.fixture.js';
import { unpackDossier } from '../dossier/unpack-dossier.fixture.js';
import { writeDossier } from '../dossier/write-dossier.js';
import { provideAuditorTools, type RunTool } from './auditor-tools.fixture.js';
import { copyDossier, listFiles, sampleOptions, type Tampered } from './sample-dossier.fixture.js';
import { makeTestAuthority, RSA, type TestAuthority } from './test-authority.fixture.js';

// The first test of a clone may have to fetch python3 and openssl.
jest.setTimeout(90_000);

const CHECK = sampleId('check', 0);
const SECOND = sampleId('check', 1);
const REQUEST = sampleId('request', 999);
/** One file of every kind. */
const KINDS = [
  'README.txt',
  'verify.sh',
  'verify.py',
  'SHA256SUMS',
  'SHA256SUMS.tsr',
  'manifest.json',
  'summary.pdf',
  'checks.csv',
  'requests.csv',
  'watch-changes.csv',
  'proofs.jsonl',
  'certs/tsa-roots.pem',
  'certs/tsa-intermediates.pem',
  `checks/${CHECK}.json`,
  `timestamps/${CHECK}.tsr`,
  'anchors/1.json',
  'anchors/1.tsr',
  `exchanges/${CHECK}/01-vies.json`,
  `exchanges/${CHECK}/01-vies.request`,
  `exchanges/${CHECK}/01-vies.response`,
  `requests/${REQUEST}/request.json`,
  `requests/${REQUEST}/01-vies.json`,
  `requests/${REQUEST}/01-vies.request`,
  `requests/${REQUEST}/02-vies.response`,
];
/** Those of them that SHA256SUMS names and that do not have to run to find it. */
const SUMMED = KINDS.filter((file) => !file.startsWith('SHA256SUMS') && file !== 'verify.py');
const turnBit = async ({ folder, write }: Tampered, file: string) => {
  const bytes = await readFile(path.join(folder, file));
  const at = bytes.length >> 1;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  await write(file, bytes);
};
const kindOf = (file: string) => file.replace(/\d+/g, '').replace(/_[0-9a-hjkmnp-tv-z]+/g, '');

let run: RunTool;
let authority: TestAuthority;
let original: string;
const opened: (() => Promise<void>)[] = [];

const tamper = async (): Promise<Tampered> => {
  const copy = await copyDossier(run, original);
  opened.push(copy.close);
  return copy;
};
const dossierOf = async (by: TestAuthority, checks: number): Promise<string> => {
  const source = await sampleSource({ checks, perAnchor: 3, stamp: by.stamp });
  return unpackDossier(run, writeDossier(source, sampleOptions(by)));
};

beforeAll(async () => {
  run = await provideAuditorTools();
  authority = await makeTestAuthority(run, 'Trusty');
  original = await dossierOf(authority, 7);
});
afterEach(async () => {
  for (const close of opened.splice(0)) await close();
});
afterAll(async () => {
  await authority?.close();
  if (original) await rm(original, { recursive: true, force: true });
});

describe('a dossier', () => {
  it('verifies with python3, and with sh from any folder, and says what was checked', async () => {
    const python = await run('python3', [path.join(original, 'verify.py')]);
    expect(python).toEqual({ code: 0, output: expect.stringMatching(/\nALL HOLDS\.\n$/) });
    for (const line of [/7 check\(s\)/, /11 exchange\(s\)/, /2 anchor\(s\)/, /6 proof\(s\)/, /5 time-stamp\(s\)/])
      expect(python.output).toMatch(line);
    expect(python.output).toMatch(/note {2}1 check\(s\) were not anchored yet/);
    expect(await run('sh', [path.join(original, 'verify.sh')], '/')).toEqual(python);
  });

  it('is not changed by being verified', async () => {
    expect((await listFiles(original)).filter((file) => file.includes('pyc'))).toEqual([]);
    expect((await run('python3', [path.join(original, 'verify.py')])).code).toBe(0);
  });

  it('names the roots it trusted, and can be held against roots from elsewhere', async () => {
    const elsewhere = path.join(await mkdirBeside(), 'roots.pem');
    await writeFile(elsewhere, authority.root);
    const trusted = await run('python3', [path.join(original, 'verify.py'), '--roots', elsewhere]);
    expect(trusted).toEqual({ code: 0, output: expect.stringMatching(/trusted: subject=.*Trusty root.*Fingerprint=/) });
    expect(trusted.output).not.toContain('came with the dossier');
    const stranger = await makeTestAuthority(run, 'Stranger');
    opened.push(stranger.close);
    await writeFile(elsewhere, stranger.root);
    const { code, output } = await run(
      'sh',
      [path.join(original, 'verify.sh'), '--roots', 'roots.pem'],
      path.dirname(elsewhere),
    );
    expect({ code, output }).toEqual({
      code: 1,
      output: expect.stringMatching(/WRONG SHA256SUMS.tsr does not verify/),
    });
  });

  it('of a development authority agrees with itself, and is said to be worth nothing', async () => {
    const policy = ['2.999', ...Buffer.from('development')].join('.');
    const development = await makeTestAuthority(run, 'Some development', { policy, key: RSA });
    opened.push(development.close);
    const folder = await dossierOf(development, 0);
    opened.push(() => rm(folder, { recursive: true, force: true }));
    const { code, output } = await run('python3', [path.join(folder, 'verify.py')]);
    expect({ code, output }).toEqual({
      code: 0,
      output: expect.stringMatching(/DEVELOPMENT authority.*worth nothing/),
    });
    expect(output).toMatch(/\nALL HOLDS, except that development time-stamps prove nothing about time\.\n$/);
  });

  const mkdirBeside = async () => {
    const folder = `${original}-roots`;
    await mkdir(folder, { recursive: true });
    opened.push(() => rm(folder, { recursive: true, force: true }));
    return folder;
  };
});

describe('the verifier of a dossier', () => {
  it('is tried on every kind of file that there is', async () => {
    const kinds = new Set((await listFiles(original)).map(kindOf));
    expect([...kinds].filter((kind) => !KINDS.map(kindOf).includes(kind))).toEqual([]);
  });

  it('finds a changed byte in a file of every kind, and says in which', async () => {
    const copy = await tamper();
    for (const file of SUMMED) await turnBit(copy, file);
    const { code, output } = await copy.verify();
    expect(code).toBe(1);
    for (const file of SUMMED) expect(output).toContain(`WRONG ${file} was changed`);
  });

  it('finds that a file of any kind was removed, and says which', async () => {
    const copy = await tamper();
    for (const file of SUMMED) await copy.remove(file);
    const { code, output } = await copy.verify();
    expect(code).toBe(1);
    for (const file of SUMMED) expect(output).toContain(`WRONG ${file} is missing`);
  });

  it.each(['SHA256SUMS', 'SHA256SUMS.tsr'])('finds a changed byte in %s, and its absence', async (file) => {
    const copy = await tamper();
    await turnBit(copy, file);
    expect(await copy.verify()).toMatchObject({ code: 1, output: expect.stringMatching(`WRONG .*${file}`) });
    await copy.remove(file);
    expect(await copy.verify()).toMatchObject({ code: 1, output: expect.stringContaining(`WRONG ${file} is missing`) });
  });

  it('finds a change of itself, and verify.sh finds one that breaks it', async () => {
    const copy = await tamper();
    await copy.replace('verify.py', 'Verifies a dossier', 'Verifies a Dossier');
    expect(await copy.verify()).toMatchObject({ code: 1, output: expect.stringContaining('verify.py was changed') });
    await copy.write('verify.py', 'import sys; sys.exit(0)');
    const shell = () => run('sh', [path.join(copy.folder, 'verify.sh')]);
    expect(await shell()).toMatchObject({ code: 1, output: expect.stringMatching('verify.py: FAILED') });
    await copy.remove('verify.py');
    expect(await shell()).toMatchObject({ code: 1, output: expect.stringMatching('verify.py: FAILED open or read') });
  });

  it('finds any bit that is turned in any file', async () => {
    const copy = await tamper();
    const files = (await listFiles(original)).filter((file) => file !== 'verify.py');
    // The seal has no sum of its own, so it is tried as often as all the others together.
    const file = fc.oneof(fc.constantFrom(...files), fc.constant('SHA256SUMS.tsr'));
    await fc.assert(
      fc.asyncProperty(file, fc.nat(), fc.integer({ min: 1, max: 255 }), async (name, place, mask) => {
        const before = await readFile(path.join(copy.folder, name));
        const after = Buffer.from(before);
        const at = place % after.length;
        after[at] = (after[at] ?? 0) ^ mask;
        await copy.write(name, after);
        const { code } = await copy.verify();
        await copy.write(name, before);
        expect(code).toBe(1);
      }),
      { numRuns: 12 },
    );
    expect((await copy.verify()).code).toBe(0);
  });

  it('finds a file that was added, and a link in place of a file', async () => {
    const added = await tamper();
    await added.write(`checks/${sampleId('check', 777)}.json`, '{}');
    expect(await added.verify()).toMatchObject({ code: 1, output: expect.stringContaining('was added') });
    const linked = await tamper();
    await linked.remove('README.txt');
    await symlink(path.join(original, 'README.txt'), path.join(linked.folder, 'README.txt'));
    expect(await linked.verify()).toMatchObject({ code: 1, output: expect.stringContaining('no ordinary file') });
  });

  it('finds sums that were forged: with the old stamp, without one, and with a stamp of somebody else', async () => {
    const copy = await tamper();
    await copy.replace(`exchanges/${CHECK}/01-vies.response`, 'true', 'nope');
    await copy.reseal();
    const old = await copy.verify();
    expect(old).toMatchObject({ code: 1, output: expect.stringContaining('SHA256SUMS.tsr is over other bytes') });
    await copy.remove('SHA256SUMS.tsr');
    expect(await copy.verify()).toMatchObject({
      code: 1,
      output: expect.stringContaining('SHA256SUMS.tsr is missing'),
    });
    const stranger = await makeTestAuthority(run, 'Trusty');
    opened.push(stranger.close);
    await copy.reseal(stranger);
    expect(await copy.verify()).toMatchObject({
      code: 1,
      output: expect.stringContaining('SHA256SUMS.tsr does not verify'),
    });
  });
});

describe('a forger who has the seal renewed by the true authority', () => {
  /** What the verifier says of a copy that was forged and sealed again. */
  const forged = async (forge: (copy: Tampered) => Promise<void>): Promise<string> => {
    const copy = await tamper();
    await forge(copy);
    await copy.reseal(authority);
    const { code, output } = await copy.verify();
    expect(code).toBe(1);
    expect(output).toMatch(/DOES NOT HOLD/);
    return output;
  };
  const hashOf = async (copy: Tampered, file: string) =>
    createHash('sha256')
      .update(await readFile(path.join(copy.folder, file)))
      .digest('hex');

  it('cannot change a check: its anchor and its stamp are over the old one', async () => {
    const said = await forged(async (copy) => {
      const file = `checks/${CHECK}.json`;
      const before = await hashOf(copy, file);
      await copy.replace(file, 'WAPIAAAA0', 'WAPIBBBB0');
      await copy.replace('checks.csv', 'WAPIAAAA0', 'WAPIBBBB0');
      await copy.replace('checks.csv', before, await hashOf(copy, file));
    });
    expect(said).toContain(`the proof of ${CHECK} does not lead to the root of anchor 1`);
    expect(said).toContain(`timestamps/${CHECK}.tsr is over other bytes`);
  });

  it('cannot swap two proofs, nor give one check the place of another', async () => {
    const swapped = await forged(async (copy) => {
      const [one, two, ...rest] = (await copy.read('proofs.jsonl')).split('\n');
      const to = (line: string | undefined, id: string) => JSON.stringify({ ...JSON.parse(line ?? ''), id });
      await copy.write('proofs.jsonl', [to(one, SECOND), to(two, CHECK), ...rest].join('\n'));
    });
    expect(swapped).toContain(`the proof of ${CHECK} does not lead`);
    expect(swapped).toContain(`the proof of ${SECOND} does not lead`);
    const doubled = await forged(async (copy) => {
      const [one] = (await copy.read('proofs.jsonl')).split('\n');
      await copy.write('proofs.jsonl', `${await copy.read('proofs.jsonl')}${one}\n`);
    });
    expect(doubled).toContain('twice');
  });

  it('cannot give an anchor another root or take it out of the chain', async () => {
    const root = await forged((copy) => copy.replace('anchors/1.json', /"root":"[0-9a-f]{4}/, '"root":"0000'));
    expect(root).toContain('does not lead to the root of anchor 1');
    expect(root).toContain('the chain breaks at anchors/2.json');
    expect(root).toContain('anchors/1.tsr is over other bytes');
    const chain = await forged(async (copy) => {
      await copy.replace('anchors/2.json', /"prev_anchor_hash":"[0-9a-f]{4}/, '"prev_anchor_hash":"0000');
      await copy.write('anchors/2.tsr', await authority.stamp(Buffer.from(await copy.read('anchors/2.json'))));
    });
    expect(chain).toContain('the chain breaks at anchors/2.json: it does not follow from anchors/1.json');
    const renamed = await forged(async (copy) => {
      for (const end of ['json', 'tsr']) {
        await copy.write(`anchors/3.${end}`, await readFile(path.join(copy.folder, `anchors/2.${end}`)));
        await copy.remove(`anchors/2.${end}`);
      }
    });
    expect(renamed).toContain('anchors/3.json is anchor 2');
  });

  it('cannot cut a stamp short, put bytes behind it, or use that of another check', async () => {
    const stamp = `timestamps/${CHECK}.tsr`;
    const bytes = await readFile(path.join(original, stamp));
    const cut = await forged((copy) => copy.write(stamp, bytes.subarray(0, -9)));
    expect(cut).toContain(`${stamp} cannot be read as a time-stamp`);
    const longer = await forged((copy) => copy.write(stamp, Buffer.concat([bytes, Buffer.of(0)])));
    expect(longer).toContain(`${stamp} cannot be read as a time-stamp`);
    const others = await readFile(path.join(original, `timestamps/${SECOND}.tsr`));
    const swapped = await forged((copy) => copy.write(stamp, others));
    expect(swapped).toContain(`${stamp} is over other bytes`);
  });

  it('cannot leave out a check, an exchange, a request, a change or a stamp without changing every count', async () => {
    const said = await forged(async (copy) => {
      await copy.remove(`checks/${SECOND}.json`);
      await copy.remove(`exchanges/${CHECK}/01-vies.json`);
      await copy.remove(`timestamps/${CHECK}.tsr`);
      await copy.remove(`requests/${REQUEST}/request.json`);
      await copy.remove('anchors/2.json');
      await copy.replace('proofs.jsonl', /^.*\n/, '');
      await copy.replace('watch-changes.csv', /\n[^\n]+\n$/, '\n');
    });
    for (const complaint of [
      `checks.csv names ${SECOND}, which is not in checks/`,
      `exchanges/${CHECK}/01-vies.request belongs to no exchange`,
      `checks.csv and timestamps/ differ about ${CHECK}`,
      'requests.csv and requests/ differ',
      'anchors/2.tsr stamps nothing that is here',
      `the proof of ${CHECK} is missing`,
      'manifest.json counts 1 watch_changes; there are 0',
    ])
      expect(said).toContain(complaint);
    const unanswered = await forged((copy) => copy.remove(`exchanges/${CHECK}/01-vies.response`));
    expect(unanswered).toContain(`exchanges/${CHECK}/01-vies.response is missing`);
  });

  it('cannot let the tables say something else than the checks', async () => {
    const cell = await forged((copy) => copy.replace('checks.csv', 'PL5260000000', 'PL5260000009'));
    expect(cell).toContain(`checks.csv differs from checks/${CHECK}.json in vat_number`);
    const verdict = await forged((copy) => copy.replace('manifest.json', '"valid": 7', '"valid": 6'));
    expect(verdict).toContain('manifest.json counts 6 valid; there are 7');
    const spaced = await forged((copy) => copy.replace(`checks/${CHECK}.json`, '{', '{ '));
    expect(spaced).toContain('not in the form that is hashed');
    const twice = await forged((copy) => copy.replace(`checks/${CHECK}.json`, '{', '{"valid":false,'));
    expect(twice).toContain('a key is there twice');
  });

  it('cannot make a terminal act on a name', async () => {
    const said = await forged((copy) => copy.write('checks/\u001b[2Jx.json', '{}'));
    expect(said).toContain('\\u001b[2Jx.json');
    expect(said).not.toContain('\u001b');
  });
});
