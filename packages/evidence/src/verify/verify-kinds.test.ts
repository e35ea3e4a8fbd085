import { createReadStream } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { unpackDossier } from '@vat/testkit';
import fc from 'fast-check';
import { unitExtensions } from '../timestamp/issue-certificate.js';
import type { OpensslAuthority } from '../timestamp/openssl-authority.fixture.js';
import { verifyTimestamp } from '../timestamp/verify-timestamp.js';
import { verifyDossier } from '../verify-dossier/index.js';
import { auditorOfTests, stampsOf } from './open-auditor.fixture.js';
import { zipFolder } from './tampered.fixture.js';

const fileOf = (relative: string) => fileURLToPath(new URL(`../../${relative}`, import.meta.url));
const VERIFIER = fileOf('assets/verify.py');
const HOLDS = { code: 0, output: expect.stringMatching(/\nALL HOLDS\.\n$/) };

const auditor = auditorOfTests();
/** Signs with RSA-PSS. */
let modern: OpensslAuthority;
beforeAll(async () => {
  modern = auditor.makeAuthority('Modern', { unitKey: 'rsa', pss: true });
});

const verify = (folder: string, ...more: string[]) => auditor.run('python3', ['-I', VERIFIER, folder, ...more]);

describe('dossiers of earlier releases', () => {
  it.each([
    ['dossier-0.1.0', 'Long-lived root', '2026-11-22'],
    // Its certificates were valid until the end of 2025.
    ['dossier-0.1.0-expired', 'Expired root', '2025-01-02'],
    // Since then checks have a grade, and so does checks.csv.
    ['dossier-graded', 'Graded root', '2026-11-23'],
    // Since then a dossier may have the results of a coverage.
    ['dossier-coverage', 'Coverage root', '2026-11-23'],
  ])('%s still verifies, with both current verifiers and with its own', async (name, root, day) => {
    const zip = fileOf(`fixtures/${name}.zip`);
    const folder = await unpackDossier(auditor.run, createReadStream(zip));
    try {
      const today = await verify(folder);
      expect(today).toEqual(HOLDS);
      expect(await verify(zip)).toEqual(today);
      expect(await verifyDossier(new Blob([await readFile(zip)]))).toMatchObject({ result: 'holds', problems: [] });
      expect(today.output).toMatch(new RegExp(`trusted: .*${root}`));
      expect(today.output).toContain(`the whole dossier is unchanged since ${day}`);
      expect(today.output).toMatch(/ok {4}4 time-stamp\(s\) verified/);
      expect(await auditor.run('sh', [path.join(folder, 'verify.sh')])).toEqual(HOLDS);
      const check = (await readFile(path.join(folder, 'checks.csv'), 'utf8')).match(/chk_\w+/)?.[0];
      await writeFile(path.join(folder, `checks/${check}.json`), '{}');
      expect(await verify(folder)).toMatchObject({ code: 1 });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('a dossier whose time-stamps are', () => {
  const kinds = [
    ['over SHA-384 and signed with ECDSA', { unitKey: 'ec', imprint: 'sha384', digest: 'sha256' }],
    ['over SHA-512 and signed with RSA and SHA-384', { unitKey: 'rsa', imprint: 'sha512', digest: 'sha384' }],
    [
      'over SHA-512 and signed with RSA-PSS and SHA-512',
      { unitKey: 'rsa', imprint: 'sha512', digest: 'sha512', pss: true },
    ],
  ] as const;

  it.each(kinds)('%s verifies, and the service accepts such time-stamps', async (_, terms) => {
    const authority = auditor.makeAuthority('Recent', terms);
    const folder = await auditor.makeDossier(1, stampsOf(authority));
    expect(await verify(folder)).toEqual(HOLDS);
    expect(await verifyDossier(await zipFolder(folder))).toMatchObject({ result: 'holds', problems: [] });
    const data = await readFile(path.join(folder, 'SHA256SUMS'));
    const tokenBytes = await readFile(path.join(folder, 'SHA256SUMS.tsr'));
    const trustedRoots = [authority.root];
    expect(verifyTimestamp({ tokenBytes, data, trustedRoots })).toMatchObject({ authority: 'Recent unit' });
    expect(() => verifyTimestamp({ tokenBytes, data: Buffer.from('other'), trustedRoots })).toThrow('something else');
  });

  it('signed with RSA-PSS is verified with the given roots, and any changed bit in SHA256SUMS.tsr is found', async () => {
    const folder = await auditor.makeDossier(1, stampsOf(modern));
    const elsewhere = path.join(await auditor.makeFolder(), 'roots.pem');
    await writeFile(elsewhere, auditor.authority.root);
    const refused = { code: 1, output: expect.stringMatching(/WRONG SHA256SUMS.tsr does not verify/) };
    expect(await verify(folder, '--roots', elsewhere)).toEqual(refused);
    await writeFile(elsewhere, modern.root);
    expect(await verify(folder, '--roots', elsewhere)).toEqual(HOLDS);

    const seal = path.join(folder, 'SHA256SUMS.tsr');
    const before = await readFile(seal);
    // The last bytes are the signature, preceded by its algorithm, which is not signed.
    const place = fc.oneof(
      fc.nat({ max: before.length - 1 }),
      fc.nat({ max: 329 }).map((back) => before.length - 1 - back),
    );
    await fc.assert(
      fc.asyncProperty(place, fc.integer({ min: 1, max: 255 }), async (at, mask) => {
        const after = Buffer.from(before);
        after[at] = (after[at] ?? 0) ^ mask;
        await writeFile(seal, after);
        expect((await verify(folder)).code).toBe(1);
      }),
      { numRuns: 6 },
    );
    await writeFile(seal, before);
    expect(await verify(folder)).toEqual(HOLDS);
  });

  it('signed with RSA-PSS by a certificate that is not for time-stamping, or that is not named, is rejected', async () => {
    const mail = unitExtensions({ purposes: ['1.3.6.1.5.5.7.3.4'] });
    const other = auditor.makeAuthority('Mail', { unitKey: 'rsa', pss: true, signWith: mail });
    const wrongPurpose = await auditor.makeDossier(1, stampsOf(other));
    expect(await verify(wrongPurpose)).toEqual({
      code: 1,
      output: expect.stringMatching(/WRONG SHA256SUMS.tsr does not verify:.*(purpose|certificate)/),
    });
    const inBrowser = async (of: string) => (await verifyDossier(await zipFolder(of))).problems[0]?.message;
    expect(await inBrowser(wrongPurpose)).toBe(
      'SHA256SUMS.tsr does not verify: its certificate is not for time-stamping alone',
    );
    const bytes = await readFile(path.join(wrongPurpose, 'SHA256SUMS'));
    const tokenBytes = await readFile(path.join(wrongPurpose, 'SHA256SUMS.tsr'));
    expect(() => verifyTimestamp({ tokenBytes, data: bytes })).toThrow('time-stamping alone');

    const folder = await auditor.makeDossier(1, stampsOf(modern));
    const seal = path.join(folder, 'SHA256SUMS.tsr');
    await writeFile(seal, modern.stampUnnamed(await readFile(path.join(folder, 'SHA256SUMS'))));
    expect(await verify(folder)).toEqual({
      code: 1,
      output: expect.stringMatching(/WRONG SHA256SUMS.tsr .*its signature does not name one of its certificates/),
    });
    expect(await inBrowser(folder)).toMatch(/^SHA256SUMS.tsr .*its signature does not name one of its certificates/);
  });
});
