import { generateKeyPairSync } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { provideAuditorTools, type RunTool, unpackDossier } from '@vat/testkit';
import type { DossierAnchor } from '../dossier/dossier-source.js';
import { sampleSource } from '../dossier/sample-source.fixture.js';
import { writeDossier } from '../dossier/write-dossier.js';
import { type DatedAuthority, makeDatedAuthority } from '../timestamp/dated-authority.fixture.js';
import { DEVELOPMENT_POLICY } from '../timestamp/object-identifiers.js';
import { verifyDossier } from '../verify-dossier/index.js';

const VERIFIER = fileURLToPath(new URL('../../assets/verify.py', import.meta.url));

// The first test of a clone may have to fetch python3 and openssl.

const day = (text: string) => new Date(`${text}T12:00:00.000Z`);
const PSS: object = { hashAlgorithm: 'sha256', mgf1HashAlgorithm: 'sha256', saltLength: 32 };
const authority = (name: string, to: string, more: object = {}) =>
  makeDatedAuthority(name, { from: day('2024-01-01'), to: day(to), ...more });
const early = authority('Early', '2025-01-31');
const middle = authority('Middle', '2025-06-30', {
  key: generateKeyPairSync('rsa-pss', { modulusLength: 2048, ...PSS }).privateKey,
  hash: 'sha384',
});
const late = authority('Late', '2099-12-31', { hash: 'sha512' });
const development = authority('Development', '2099-12-31', { policy: DEVELOPMENT_POLICY });

type Made = { by: DatedAuthority; on: string };
/** The last four stamps renew each other; the fifth anchor contains no check of the dossier. */
const RENEWED: Made[] = [
  { by: early, on: '2024-12-01' },
  { by: early, on: '2024-12-02' },
  { by: middle, on: '2025-01-30' },
  { by: early, on: '2025-01-30' },
  { by: late, on: '2025-06-29' },
];
const SEAL: Made = { by: late, on: '2026-01-01' };

let run: RunTool;
const folders: string[] = [];
beforeAll(async () => {
  run = await provideAuditorTools();
});
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

type Changes = {
  seal?: Made;
  /** The anchors between the first and the last that are left out, and those of them that are in `links`. */
  without?: number[];
  links?: (body: Uint8Array) => Uint8Array | null;
  roots?: readonly DatedAuthority[];
};

async function* each<T>(items: readonly T[]): AsyncGenerator<T, void, undefined> {
  yield* items;
}

const wrongIn = (output: string) => output.split('\n').filter((line) => line.startsWith('WRONG'));

/** Verifies a dossier of one check for each anchor, and of those that are left out none. Both verifiers must agree. */
const verify = async (stamps: readonly Made[], changes: Changes = {}) => {
  const { seal = SEAL, without = [], links = (body) => body, roots } = changes;
  const queue = [...stamps, ...stamps];
  const stamp = async (bytes: Uint8Array) => {
    const { by, on } = queue.shift() ?? seal;
    return by.stamp(bytes, day(on));
  };
  const source = await sampleSource({ checks: stamps.length, perAnchor: 1, stamp });
  queue.length = 0;
  const anchors: DossierAnchor[] = [];
  for await (const anchor of source.anchors) anchors.push(anchor);
  const isLeftOut = ({ seq }: { seq: number }) => without.includes(seq);
  const connecting = anchors.filter(isLeftOut).flatMap(({ seq, body }) => {
    const link = links(body);
    return link ? { seq, body: link } : [];
  });
  async function* checks() {
    for await (const check of source.checks) if (!isLeftOut({ seq: check.proof?.seq ?? 0 })) yield check;
  }
  const zip = writeDossier(
    {
      ...source,
      checks: checks(),
      anchors: each(anchors.filter((anchor) => !isLeftOut(anchor))),
      links: each(connecting),
    },
    {
      account: { id: '0195f1e2-0000-7000-8000-000000000001', name: 'Account' },
      createdAt: day(seal.on),
      choice: { from: null, to: null, vatNumber: null, reference: null },
      certificates: async () => [early.root, middle.root, late.root, development.root],
      stamp,
    },
  );
  const bytes = await buffer(zip);
  const folder = await unpackDossier(run, Readable.from([bytes]));
  folders.push(folder);
  if (!roots) {
    const python = await run('python3', ['-I', VERIFIER, folder]);
    const browser = await verifyDossier(new Blob([bytes]));
    expect(browser.problems.map(({ message }) => `WRONG ${message}`)).toEqual(wrongIn(python.output));
    expect(browser.result).toBe(python.code === 0 ? 'holds' : 'does_not_hold');
    const sentences = (lines: readonly string[]) =>
      lines.flatMap((line) => line.match(/with a certificate that expired.*\d UTC/) ?? []).sort();
    expect(sentences(browser.passed)).toEqual(sentences(python.output.split('\n')));
    return python;
  }
  const given = path.join(folder, '..', `${path.basename(folder)}-roots.pem`);
  folders.push(given);
  await writeFile(given, roots.map(({ root }) => root).join(''));
  return run('python3', ['-I', VERIFIER, folder, '--roots', given]);
};

const EARLY = '2025-01-31 12:00:00 UTC';
const MIDDLE = '2025-06-30 12:00:00 UTC';

describe('a dossier with time-stamps whose certificates expired before it was made', () => {
  it('holds if later anchors were stamped before that, also across anchors without a check of it', async () => {
    const { code, output } = await verify(RENEWED, { without: [4] });
    expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/\nALL HOLDS\.\n$/) });
    expect(output).toContain(
      `ok    4 time-stamp(s) with a certificate that expired on ${EARLY} (anchors/1.tsr, anchors/2.tsr, ` +
        'timestamps/chk_',
    );
    expect(output).toContain(
      'hold: anchor 3, which contains their hashes, was stamped before that, on 2025-01-30 12:00:00 UTC',
    );
    expect(output).toContain(
      `ok    1 time-stamp(s) with a certificate that expired on ${MIDDLE} (anchors/3.tsr) hold: anchor 5, ` +
        'which contains their hashes, was stamped before that, on 2025-06-29 12:00:00 UTC',
    );
    expect(output).not.toMatch(/gap/);
  });

  it('does not hold if the later anchor was stamped too late', async () => {
    const stamps = RENEWED.map((made, index) => (index === 4 ? { ...made, on: '2025-07-01' } : made));
    const { code, output } = await verify(stamps);
    expect(code).toBe(1);
    const reason = 'and anchor 5, the first later one that holds, was stamped only on 2025-07-01 12:00:00 UTC';
    expect(wrongIn(output)).toEqual([
      ...['1', '2'].map((seq) => `WRONG the certificate of anchors/${seq}.tsr expired on ${EARLY}, ${reason}`),
      `WRONG the certificate of anchors/3.tsr expired on ${MIDDLE}, ${reason}`,
      `WRONG the certificate of anchors/4.tsr expired on ${EARLY}, ${reason}`,
      ...Array(2).fill(expect.stringContaining(`expired on ${EARLY}, ${reason} (VAT number`)),
    ]);
  });

  it('does not hold if the connection to the later anchor is missing or changed', async () => {
    const missing = await verify(RENEWED, { without: [4], links: () => null });
    const reason = 'and no later anchor that contains its hash holds';
    expect(missing.code).toBe(1);
    expect(wrongIn(missing.output)).toContain(`WRONG the certificate of anchors/3.tsr expired on ${MIDDLE}, ${reason}`);
    const other = (body: Uint8Array) =>
      Buffer.from(
        Buffer.from(body)
          .toString()
          .replace(/"root":"../, '"root":"00'),
      );
    const changed = await verify(RENEWED, { without: [4], links: other });
    expect(wrongIn(changed.output)).toEqual(
      expect.arrayContaining([
        expect.stringContaining('the chain breaks at anchors/5.json'),
        `WRONG the certificate of anchors/3.tsr expired on ${MIDDLE}, ${reason}`,
      ]),
    );
  });

  it('does not hold if the later time-stamp leads to no trusted root', async () => {
    const seal = { by: early, on: '2025-01-30' };
    const stamps = RENEWED.slice(0, 3);
    expect(await verify(stamps, { seal: { ...seal, by: late }, roots: [early, late] })).toEqual({
      code: 1,
      output: expect.stringMatching(/WRONG anchors\/3.tsr does not verify/),
    });
    // The time-stamp of the dossier covers the others as long as it holds itself.
    const whole = await verify(stamps, { seal });
    expect(whole).toEqual({ code: 0, output: expect.stringMatching(/\nALL HOLDS\.\n$/) });
    expect(whole.output).toMatch(`note  the certificate of SHA256SUMS.tsr expired on ${EARLY}. If you received`);
  });

  it('does not hold if only the development authority says that the dossier was made before that', async () => {
    const seal = { by: development, on: '2025-01-20' };
    const { code, output } = await verify(RENEWED.slice(0, 2), { seal });
    expect(code).toBe(1);
    const reason = 'and no later anchor that contains its hash holds';
    expect(wrongIn(output)).toEqual([
      ...['1', '2'].map((seq) => `WRONG the certificate of anchors/${seq}.tsr expired on ${EARLY}, ${reason}`),
      ...Array(2).fill(expect.stringContaining(`expired on ${EARLY}, ${reason} (VAT number`)),
    ]);
  });
});
