import { chmod, cp, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createTimestamper } from '../timestamp/create-timestamper.js';
import { createDevelopmentAuthority, makeDevelopmentIdentity } from '../timestamp/development-authority.js';
import { verifyDossier } from '../verify-dossier/index.js';
import { auditorOfTests, stampsOf } from './open-auditor.fixture.js';
import { listFiles, zipFolder } from './tampered.fixture.js';

const auditor = auditorOfTests();

describe('a dossier', () => {
  const verify = (folder: string, ...args: string[]) =>
    auditor.run('python3', [path.join(folder, 'verify.py'), ...args]);

  it('verifies with python3, and with sh from any folder, prints what was checked, and changes nothing', async () => {
    const before = await listFiles(auditor.original);
    const python = await verify(auditor.original);
    expect(python).toEqual({ code: 0, output: expect.stringMatching(/\nALL HOLDS\.\n$/) });
    for (const line of [/7 check\(s\)/, /11 exchange\(s\)/, /2 anchor\(s\)/, /6 proof\(s\)/, /5 time-stamp\(s\)/])
      expect(python.output).toMatch(line);
    expect(python.output).toMatch(/note {2}1 check\(s\) were not anchored yet/);
    expect(python.output).toMatch(/proved to have existed when it was first stamped, .* \d{3,} d \d\d h \d\d min/);
    expect(python.output).toMatch(/note {2}1 check\(s\) are covered only by the time-stamp of the whole dossier/);
    expect(python.output).toMatch(/note .* who made them is not proved by that\. README.txt explains/);
    expect(await auditor.run('sh', [path.join(auditor.original, 'verify.sh')], '/')).toEqual(python);
    expect(await listFiles(auditor.original)).toEqual(before);
  });

  it('holds with texts in which a spreadsheet would read formulas, for both verifiers', async () => {
    expect(await readFile(path.join(auditor.original, 'checks.csv'), 'utf8')).toContain(`,"'+0;'-1",`);
    expect(await verify(auditor.original)).toMatchObject({ code: 0 });
    const browser = await verifyDossier(await zipFolder(auditor.original));
    expect(browser).toMatchObject({ result: 'holds', problems: [] });
    const named = (await readFile(path.join(auditor.original, 'SHA256SUMS'), 'utf8')).trimEnd().split('\n').length;
    expect(browser.passed[0]).toBe(`${named} files are those that SHA256SUMS names, unchanged.`);
  });

  it('holds with certificates that no time-stamp in it needs', async () => {
    const [own, other] = [stampsOf(auditor.authority), stampsOf(auditor.makeAuthority('Other'))];
    const certificates = [...own.certificates, ...other.certificates];
    const folder = await auditor.makeDossier(1, { ...own, certificates });
    expect(await verify(folder)).toEqual({ code: 0, output: expect.stringMatching(/\nALL HOLDS\.\n$/) });
  });

  // OpenSSL 3 divides some of its arguments at these.
  it('verifies in a folder whose name has spaces and commas', async () => {
    const folder = path.join(await auditor.makeFolder(), 'Müller, Prüfung 2026');
    await cp(auditor.original, folder, { recursive: true });
    expect(await verify(folder)).toEqual({ code: 0, output: expect.stringMatching(/\nALL HOLDS\.\n$/) });
    const shell = await auditor.run('sh', [path.join(folder, 'verify.sh')], '/');
    expect(shell).toEqual({ code: 0, output: expect.stringMatching(/\nALL HOLDS\.\n$/) });
  });

  it('is not reported as wrong if the programs of the machine are unsuitable', async () => {
    const programs = await auditor.makeFolder();
    const stub = async (name: string, script: string) => {
      await writeFile(path.join(programs, name), `#!/bin/sh\n${script}\n`);
      await chmod(path.join(programs, name), 0o755);
    };
    const shell = (given: string) =>
      auditor.run('sh', ['-c', 'PATH="$1:$PATH" exec sh "$2"', 'sh', programs, path.join(given, 'verify.sh')]);
    // BusyBox, on Alpine.
    await stub('sha256sum', 'case "$*" in *--quiet*) echo "unrecognized option: quiet" >&2; exit 1 ;; esac');
    expect(await shell(auditor.original)).toMatchObject({ code: 0 });
    await stub('sha256sum', 'echo "usage: sha256sum file" >&2; exit 1');
    expect(await shell(auditor.original)).toMatchObject({ code: 0 });
    for (const version of ['LibreSSL 3.3.6', 'OpenSSL 1.0.2k-fips  26 Jan 2017']) {
      await stub('openssl', `[ "$1" = version ] && echo "${version}"`);
      const { code, output } = await shell(auditor.original);
      expect({ code, output }).toEqual({ code: 2, output: expect.stringContaining(version) });
      expect(output).toMatch(/brew install openssl[\s\S]*NOT CHECKED/);
      expect(output).not.toMatch(/DOES NOT HOLD|ALL HOLDS/);
    }
  });

  it('is verified with printed roots, or with given ones', async () => {
    const folder = await auditor.makeFolder();
    const elsewhere = path.join(folder, 'roots.pem');
    await writeFile(elsewhere, auditor.authority.root);
    const trusted = await verify(auditor.original, '--roots', elsewhere);
    expect(trusted).toEqual({ code: 0, output: expect.stringMatching(/trusted: subject=.*Trusty root.*Fingerprint=/) });
    expect(trusted.output).not.toContain('came with the dossier');
    await writeFile(elsewhere, auditor.makeAuthority('Stranger').root);
    const refused = await auditor.run('sh', [path.join(auditor.original, 'verify.sh'), '--roots', 'roots.pem'], folder);
    expect(refused).toEqual({ code: 1, output: expect.stringMatching(/WRONG SHA256SUMS.tsr does not verify/) });
  });

  it('is not reported as wrong if the given roots cannot be used', async () => {
    const folder = await auditor.makeFolder();
    await writeFile(path.join(folder, 'root.der'), Buffer.of(0x30, 0x82));
    const at = (name: string) => path.join(folder, name);
    for (const [file, why] of [
      [at('none.pem'), /none\.pem', cannot be used: No such file/],
      [at('root.der'), /root\.der', cannot be used: it does not contain whole certificates in PEM/],
      [folder, /cannot be used: Is a directory/],
      ['', /cannot be used: Is a directory/],
    ] as const) {
      const { code, output } = await verify(auditor.original, '--roots', file);
      expect({ code, output }).toEqual({ code: 2, output: expect.stringMatching(why) });
      expect(output).toMatch(/\nNOT CHECKED/);
      expect(output).not.toContain('DOES NOT HOLD');
    }
  });

  it('of an authority with RSA keys and an unknown root verifies up to its topmost certificate', async () => {
    const authority = auditor.makeAuthority('Rootless', { key: 'rsa' });
    const folder = await auditor.makeDossier(1, { ...stampsOf(authority), certificates: [authority.intermediate] });
    const { code, output } = await verify(folder);
    expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/topmost .* issuer=.*Rootless root/) });
    const nobody = await auditor.makeDossier(1, { ...stampsOf(authority), certificates: [] });
    expect(await verify(nobody)).toEqual({ code: 1, output: expect.stringContaining('contains no root certificate') });
  });

  it('verifies if its tokens contain an unnecessary certificate, and any change of that is found', async () => {
    const authority = auditor.makeAuthority('Crossed', { crossSigned: true });
    const folder = await auditor.makeDossier(1, stampsOf(authority));
    const { code, output } = await verify(folder);
    expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/\nALL HOLDS\.\n$/) });
    expect(output).toMatch(/trusted: .*Crossed root/);
    expect(output).not.toMatch(/topmost/);
    const elsewhere = path.join(await auditor.makeFolder(), 'roots.pem');
    await writeFile(elsewhere, authority.root);
    expect(await verify(folder, '--roots', elsewhere)).toMatchObject({ code: 0 });
    const seal = path.join(folder, 'SHA256SUMS.tsr');
    const bytes = await readFile(seal);
    const at = bytes.indexOf('Crossed elder') + 'Crossed'.length;
    bytes[at] = '-'.charCodeAt(0);
    await writeFile(seal, bytes);
    expect(await verify(folder)).toMatchObject({
      code: 1,
      output: expect.stringMatching(/WRONG SHA256SUMS.tsr .*certificates/),
    });
  });

  it('verifies if the authority uses an indefinite length', async () => {
    const { stamp } = auditor.authority;
    const open = async (bytes: Uint8Array) => {
      const answer = await stamp(bytes);
      return Buffer.concat([Buffer.of(0x30, 0x80), answer.subarray(4), Buffer.of(0, 0)]);
    };
    const folder = await auditor.makeDossier(1, { ...stampsOf(auditor.authority), stamp: open });
    expect(await verify(folder)).toEqual({ code: 0, output: expect.stringMatching(/\nALL HOLDS\.\n$/) });
  });

  it('of the development authority verifies, with a note that it is worth nothing', async () => {
    // Valid for thirty years from 1990: expired now, but valid at the stamped time.
    const identity = await makeDevelopmentIdentity(new Date('1990-01-01T00:00:00.000Z'));
    const now = () => new Date('2015-06-01T12:00:00.000Z');
    const development = () => createDevelopmentAuthority({ identity, now });
    const timestamper = createTimestamper({ url: null, development, now });
    const stamp = async (bytes: Uint8Array) => (await timestamper.stamp(bytes)).tokenBytes;
    const folder = await auditor.makeDossier(0, { certificates: [identity.root], stamp, createdAt: now() });
    timestamper.close();
    const { code, output } = await verify(folder);
    expect({ code, output }).toEqual({
      code: 0,
      output: expect.stringMatching(/1 of 1 time-stamp.*DEVELOPMENT authority.*worth nothing.*dossier is one of them/),
    });
    expect(output).toContain('since 2015-06-01 12:00:00 UTC');
    expect(output).toMatch(/\nALL HOLDS, except that development time-stamps prove nothing about time\.\n$/);
  });
});
