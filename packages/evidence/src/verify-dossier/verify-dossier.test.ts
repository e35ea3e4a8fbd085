import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { auditorOfTests, stampsOf } from '../verify/open-auditor.fixture.js';
import { zipFolder } from '../verify/tampered.fixture.js';
import type { DossierProgress } from './index.js';
import { verifyDossier } from './index.js';
import { readCells } from './read-content.js';

const VERIFIER = fileURLToPath(new URL('../../assets/verify.py', import.meta.url));

const auditor = auditorOfTests();

const verify = async (folder: string) => verifyDossier(await zipFolder(folder));

describe('the verifier in the browser', () => {
  it('reports its progress, the counts, and the longest time until the first time-stamp', async () => {
    const steps: DossierProgress[] = [];
    const report = await verifyDossier(await zipFolder(auditor.original), {
      onProgress: (step) => void steps.push(step),
    });
    expect(report).toMatchObject({
      result: 'holds',
      counts: { checks: 7, exchanges: 11, requests: 1, anchors: 2, proofs: 6, timestamps: 2, supplies: 2 },
    });
    expect(new Set(steps.map(({ step }) => step))).toEqual(new Set(['files', 'records', 'time-stamps']));
    expect(steps.every(({ done, total }) => done < total)).toBe(true);
    expect(report.notes.join('\n')).toMatch(
      /proved to have existed when it was first stamped, .* \d{3,} d \d+ h \d+ min/,
    );
  });

  it('says nothing about a dossier whose file can no longer be read', async () => {
    const zip = await zipFolder(auditor.original);
    /** A file whose n-th read fails, as browsers do when it was changed or its drive is gone. */
    const failingAt = (failing: number): Blob => {
      let reads = 0;
      const failed = { arrayBuffer: () => Promise.reject(new DOMException('It is gone.', 'NotReadableError')) };
      const slice = (start: number, end: number) => {
        reads += 1;
        return reads === failing ? failed : zip.slice(start, end);
      };
      return { size: zip.size, slice } as unknown as Blob;
    };
    for (const read of [1, 2])
      expect(await verifyDossier(failingAt(read))).toMatchObject({
        result: 'not_checked',
        reason: { code: 'no_dossier', message: expect.stringContaining('cannot be read') },
        problem_count: 0,
      });
  });

  it('says that a workbook is not a dossier, as verify.py does, and not that it does not hold', async () => {
    const workbook = fileURLToPath(new URL('../../../spreadsheet/fixtures/xlsxwriter.xlsx', import.meta.url));
    const report = await verifyDossier(new Blob([await readFile(workbook)]));
    const expected = { result: 'not_checked', reason: { code: 'not_a_dossier' } };
    expect(report).toMatchObject({ ...expected, problems: [], problem_count: 0 });
    const { code, output } = await auditor.run('python3', ['-I', VERIFIER, workbook, '--json']);
    expect([code, JSON.parse(output)]).toMatchObject([2, expected]);
  });

  it('writes one check and one anchor in the singular', async () => {
    const [one, four] = await Promise.all(
      [1, 4].map(async (checks) => verify(await auditor.makeDossier(checks, stampsOf(auditor.authority)))),
    );
    expect(one?.passed).toContain('1 check is in the form that was hashed, and agrees with checks.csv.');
    // The check that covers a supply is not in this dossier.
    expect(one?.passed).toContain('0 of 2 supplies are covered, as the checks say.');
    expect(one?.notes.join()).toContain('1 covered supply has no check in the dossier');
    expect(four?.passed).toContain('1 of 2 supplies is covered, as the checks say.');
    expect(one?.notes).toContain('1 check was not in an anchor yet when the dossier was made.');
    expect(four?.passed).toContain('1 anchor is a chain.');
    expect(four?.passed).toContain('4 checks are in the form that was hashed, and agree with checks.csv.');
  });

  it.each([
    ['signed with ECDSA', {}],
    ['signed with RSA-PSS', { unitKey: 'rsa', pss: true }],
  ] as const)('finds any changed bit in the time-stamp of a dossier %s', async (_, terms) => {
    const folder = await auditor.makeDossier(1, stampsOf(auditor.makeAuthority('Any', terms)));
    const zip = Buffer.from(await (await zipFolder(folder)).arrayBuffer());
    const seal = await readFile(path.join(folder, 'SHA256SUMS.tsr'));
    const start = zip.indexOf(seal);
    // Only the bytes of files: the zip's own headers are not part of the dossier. SHA256SUMS.tsr has no checksum.
    const place = fc.oneof(
      fc.nat(seal.length - 1),
      fc.nat({ max: 329 }).map((back) => seal.length - 1 - back),
    );
    await fc.assert(
      fc.asyncProperty(place, fc.integer({ min: 1, max: 255 }), async (at, mask) => {
        const changed = Buffer.from(zip);
        changed[start + at] = (seal[at] ?? 0) ^ mask;
        expect((await verifyDossier(new Blob([changed]))).result).toBe('does_not_hold');
      }),
      { numRuns: 60 },
    );
  });

  it('finds a changed tag of a number in an ECDSA signature', async () => {
    const folder = await auditor.makeDossier(1, stampsOf(auditor.makeAuthority('Any')));
    const file = path.join(folder, 'SHA256SUMS.tsr');
    const seal = await readFile(file);
    // The signature is the end of the token: an OCTET STRING with a SEQUENCE of two INTEGERs.
    const starts = Array.from({ length: 16 }, (_, n) => seal.length - 76 + n);
    const start = starts.find((at) => seal[at] === 0x30 && at + 2 + (seal[at + 1] ?? 0) === seal.length) ?? 0;
    const tags = [start + 2, start + 4 + (seal[start + 3] ?? 0)];
    for (const tag of tags) {
      const changed = Buffer.from(seal);
      expect(changed[tag]).toBe(0x02);
      changed[tag] = 0x0a;
      await writeFile(file, changed);
      expect((await verify(folder)).result).toBe('does_not_hold');
    }
  });

  it('finds a changed tag in the parameters of the hash function of RSA-PSS', async () => {
    const authority = auditor.makeAuthority('Any', { unitKey: 'rsa', pss: true });
    const folder = await auditor.makeDossier(1, stampsOf(authority));
    const file = path.join(folder, 'SHA256SUMS.tsr');
    const seal = await readFile(file);
    // SHA-256 with NULL as parameters, followed by the mask.
    const tag = seal.indexOf('300d06096086480165030402010500a1', 'hex') + 13;
    for (const other of [0x04, 0x85]) {
      const changed = Buffer.from(seal);
      expect(changed[tag]).toBe(0x05);
      changed[tag] = other;
      await writeFile(file, changed);
      expect((await verify(folder)).result).toBe('does_not_hold');
    }
  });

  it('accepts indefinite lengths, a certificate that is not needed, and an unknown root, as verify.py does', async () => {
    const { stamp } = auditor.authority;
    const open = async (bytes: Uint8Array) => {
      const answer = await stamp(bytes);
      return Buffer.concat([Buffer.of(0x30, 0x80), answer.subarray(4), Buffer.of(0, 0)]);
    };
    const rootless = auditor.makeAuthority('Rootless', { key: 'rsa' });
    for (const stamps of [
      { ...stampsOf(auditor.authority), stamp: open },
      stampsOf(auditor.makeAuthority('Crossed', { crossSigned: true })),
      { ...stampsOf(rootless), certificates: [rootless.intermediate] },
    ])
      expect(await verify(await auditor.makeDossier(1, stamps))).toMatchObject({ result: 'holds', problems: [] });
    const folder = await auditor.makeDossier(1, stampsOf(auditor.makeAuthority('Crossed', { crossSigned: true })));
    const seal = path.join(folder, 'SHA256SUMS.tsr');
    const bytes = await readFile(seal);
    bytes[bytes.indexOf('Crossed elder') + 'Crossed'.length] = '-'.charCodeAt(0);
    await writeFile(seal, bytes);
    expect((await verify(folder)).problems).toMatchObject([{ code: 'stamp_unreadable', file: 'SHA256SUMS.tsr' }]);
  });

  it('says that it cannot verify a time-stamp with a curve that browsers do not have', async () => {
    const folder = await auditor.makeDossier(1, stampsOf(auditor.makeAuthority('Brainpool', { key: 'brainpool' })));
    expect(await verify(folder)).toMatchObject({
      result: 'not_checked',
      reason: {
        code: 'unsupported_stamp',
        message: expect.stringMatching(/elliptic curve .* Verify the dossier with verify\.py/),
      },
    });
  });

  it('reads tables as RFC 4180 writes them, and a quote inside a cell as verify.py does', () => {
    expect(readCells('a"b"c,x\r\n""\r\n\r\n')).toEqual([['a"b"c', 'x'], ['']]);
    expect(readCells('\ufeffa,"b ""c""\nd",\r\n,x\n')).toEqual([
      ['a', 'b "c"\nd', ''],
      ['', 'x'],
    ]);
    expect(() => readCells('a,"b')).toThrow('cannot be read after 2 characters');
    expect(readCells(`"${'x""'.repeat(500_000)}"`)[0]?.[0]).toHaveLength(1_000_000);
  });
});
