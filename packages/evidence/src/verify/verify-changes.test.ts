import { readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import fc from 'fast-check';
import { sampleId } from '../dossier/sample-source.fixture.js';
import { auditorOfTests } from './open-auditor.fixture.js';
import { listFiles, type Tampered } from './tampered.fixture.js';

const CHECK = sampleId('check', 0);
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
  'coverage/report.pdf',
  'coverage/results.csv',
];
/** The files in SHA256SUMS except the verifier itself. */
const SUMMED = KINDS.filter((file) => !file.startsWith('SHA256SUMS') && file !== 'verify.py');
const flipBit = async ({ folder, write }: Tampered, file: string) => {
  const bytes = await readFile(path.join(folder, file));
  const at = bytes.length >> 1;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  await write(file, bytes);
};
const kindOf = (file: string) => file.replace(/\d+/g, '').replace(/_[0-9a-hjkmnp-tv-z]+/g, '');

const auditor = auditorOfTests();

describe('the verifier of a dossier', () => {
  it('is tested with every kind of file', async () => {
    const kinds = new Set((await listFiles(auditor.original)).map(kindOf));
    expect([...kinds].filter((kind) => !KINDS.map(kindOf).includes(kind))).toEqual([]);
  });

  it('finds a changed byte in a file of every kind and names the file', async () => {
    const copy = await auditor.tamper();
    for (const file of SUMMED) await flipBit(copy, file);
    const { code, output } = await copy.verify();
    expect(code).toBe(1);
    for (const file of SUMMED) expect(output).toContain(`WRONG ${file} was changed`);
  });

  it('finds that a file of any kind was removed and names the file', async () => {
    const copy = await auditor.tamper();
    for (const file of SUMMED) await copy.remove(file);
    const { code, output } = await copy.verify();
    expect(code).toBe(1);
    for (const file of SUMMED) expect(output).toContain(`WRONG ${file} is missing`);
  });

  it.each(['SHA256SUMS', 'SHA256SUMS.tsr'])('finds a changed byte in %s and its removal', async (file) => {
    const copy = await auditor.tamper();
    await flipBit(copy, file);
    expect(await copy.verify()).toMatchObject({ code: 1, output: expect.stringMatching(`WRONG .*${file}`) });
    await copy.remove(file);
    expect(await copy.verify()).toMatchObject({ code: 1, output: expect.stringContaining(`WRONG ${file} is missing`) });
  });

  it('finds a change of itself, and verify.sh finds one that breaks verify.py', async () => {
    const copy = await auditor.tamper();
    await copy.replace('verify.py', 'Verifies a dossier', 'Verifies a Dossier');
    expect(await copy.verify()).toMatchObject({ code: 1, output: expect.stringContaining('verify.py was changed') });
    await copy.write('verify.py', 'import sys; sys.exit(0)');
    const shell = () => auditor.run('sh', [path.join(copy.folder, 'verify.sh')]);
    expect(await shell()).toMatchObject({ code: 1, output: expect.stringMatching('verify.py: FAILED') });
    await copy.remove('verify.py');
    expect(await shell()).toMatchObject({ code: 1, output: expect.stringMatching('verify.py: FAILED open or read') });
  });

  it('finds any changed bit in any file', async () => {
    const copy = await auditor.tamper();
    const files = (await listFiles(auditor.original)).filter((file) => file !== 'verify.py');
    // SHA256SUMS.tsr has no checksum, so it is tested as often as all other files together.
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
      { numRuns: 8 },
    );
    expect((await copy.verify()).code).toBe(0);
  });

  it('finds an added file and a link in place of a file', async () => {
    const added = await auditor.tamper();
    await added.write(`checks/${sampleId('check', 777)}.json`, '{}');
    expect(await added.verify()).toMatchObject({ code: 1, output: expect.stringContaining('was added') });
    const linked = await auditor.tamper();
    await linked.remove('README.txt');
    await symlink(path.join(auditor.original, 'README.txt'), path.join(linked.folder, 'README.txt'));
    expect(await linked.verify()).toMatchObject({ code: 1, output: expect.stringContaining('not an ordinary file') });
  });

  it('finds forged checksums with the old time-stamp, without one, and with one of another authority', async () => {
    const copy = await auditor.tamper();
    await copy.replace(`exchanges/${CHECK}/01-vies.response`, 'true', 'nope');
    await copy.reseal();
    const old = await copy.verify();
    expect(old).toMatchObject({
      code: 1,
      output: expect.stringContaining('SHA256SUMS.tsr is not a time-stamp of the content of'),
    });
    await copy.remove('SHA256SUMS.tsr');
    expect(await copy.verify()).toMatchObject({
      code: 1,
      output: expect.stringContaining('SHA256SUMS.tsr is missing'),
    });
    const stranger = auditor.makeAuthority('Trusty');
    await copy.reseal(stranger);
    expect(await copy.verify()).toMatchObject({
      code: 1,
      output: expect.stringContaining('SHA256SUMS.tsr does not verify'),
    });
  });
});
