import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { provideAuditorTools, type RunTool, unpackDossier } from '@vat/testkit';
import { hashCheck } from '../hash-check.js';
import { listFiles } from '../verify/tampered.fixture.js';
import type { DossierOptions, DossierSource } from './dossier-source.js';
import { sampleBody, sampleExchange, sampleId, sampleSource } from './sample-source.fixture.js';
import { writeDossier } from './write-dossier.js';

// The first test of a clone may have to fetch python3.

const stamp = async () => Buffer.from('a stamp');
const options: DossierOptions = {
  account: { id: '0195f1e2-0000-7000-8000-000000000001', name: 'Müller & Σία ООД' },
  createdAt: new Date('2026-11-20T14:00:00.000Z'),
  choice: { from: new Date('2026-11-01T00:00:00.000Z'), to: null, vatNumber: null, reference: 'R' },
  certificates: async () => [],
  stamp,
};
const sample = (checks: number) => sampleSource({ checks, perAnchor: 2, stamp });
async function* nothing(): AsyncGenerator<never, void, undefined> {
  yield* [];
}
const empty = (): DossierSource => ({
  checks: nothing(),
  requests: nothing(),
  anchors: nothing(),
  links: nothing(),
  watchChanges: nothing(),
});

let run: RunTool;
const folders: string[] = [];
const unpack = async (source: DossierSource, changes: Partial<DossierOptions> = {}) => {
  const folder = await unpackDossier(run, writeDossier(source, { ...options, ...changes }));
  folders.push(folder);
  return { files: await listFiles(folder), read: (file: string) => readFile(path.join(folder, file), 'utf8') };
};

beforeAll(async () => {
  run = await provideAuditorTools();
});
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

describe('writeDossier', () => {
  it('writes the documented layout', async () => {
    const { files, read } = await unpack(await sample(2));
    const [one, two] = [sampleId('check', 0), sampleId('check', 1)];
    const request = `requests/${sampleId('request', 999)}`;
    const expected = [
      ...['README.txt', 'SHA256SUMS', 'SHA256SUMS.tsr', 'anchors/1.json', 'anchors/1.tsr'],
      ...[
        'certs/tsa-intermediates.pem',
        'certs/tsa-roots.pem',
        'checks.csv',
        `checks/${one}.json`,
        `checks/${two}.json`,
      ],
      ...['json', 'request', 'response'].map((end) => `exchanges/${one}/01-vies.${end}`),
      // The first lookup of the second check was never answered.
      ...['01-vies.json', '01-vies.request', '02-vies.json', '02-vies.request', '02-vies.response'].map(
        (name) => `exchanges/${two}/${name}`,
      ),
      ...['manifest.json', 'proofs.jsonl', 'requests.csv'],
      ...['01-vies.json', '01-vies.request', '02-vies.json', '02-vies.request', '02-vies.response', 'request.json'].map(
        (name) => `${request}/${name}`,
      ),
      ...[
        'summary.pdf',
        `timestamps/${one}.tsr`,
        `timestamps/${two}.tsr`,
        'verify.py',
        'verify.sh',
        'watch-changes.csv',
      ],
    ];
    expect(files).toEqual(expected.sort());
    const unanswered = JSON.parse(await read(`exchanges/${two}/01-vies.json`));
    expect(unanswered).toMatchObject({ source: 'vies', duration_ms: 80, response: null, error: 'ECONNRESET' });
    const answered = JSON.parse(await read(`exchanges/${two}/02-vies.json`));
    const sha256 = createHash('sha256')
      .update(await read(`exchanges/${two}/02-vies.response`))
      .digest('hex');
    expect(answered.response).toMatchObject({ status: 200, complete: true, file: '02-vies.response', sha256 });
    expect(JSON.parse(await read(`${request}/request.json`))).toMatchObject({
      status: 'abandoned',
      reason: 'UPSTREAM_NO_ANSWER',
      attempts: 2,
    });
  });

  it('contains the hashed bytes, and lists the checksum of every file except SHA256SUMS and its time-stamp', async () => {
    const { files, read } = await unpack(await sample(3));
    expect(JSON.parse(await read(`checks/${sampleId('check', 2)}.json`))).toEqual(sampleBody(2));
    const sums = (await read('SHA256SUMS'))
      .trimEnd()
      .split('\n')
      .map((line) => line.split('  '));
    expect(sums.map(([, file]) => file).sort()).toEqual(files.filter((file) => !file.startsWith('SHA256SUMS')));
    for (const [sum, file] of sums)
      if (!file?.endsWith('.pdf'))
        expect(
          createHash('sha256')
            .update(await read(file ?? ''))
            .digest('hex'),
        ).toBe(sum);
    expect(await read('SHA256SUMS.tsr')).toBe('a stamp');
  });

  it('gives the same bytes for the same evidence', async () => {
    const [one, two] = [await sample(3), await sample(3)];
    const first = await buffer(writeDossier(one, options));
    expect(first.equals(await buffer(writeDossier(two, options)))).toBe(true);
    // The date of the files, in MS-DOS format: 2026-11-20 14:00:00, in any time zone.
    expect(first.readUInt16LE(10)).toBe(14 << 11);
    expect(first.readUInt16LE(12)).toBe(((2026 - 1980) << 9) | (11 << 5) | 20);
  });

  it('is complete without any check', async () => {
    const { files, read } = await unpack(empty());
    expect(files).toHaveLength(13);
    expect(JSON.parse(await read('manifest.json'))).toMatchObject({
      choice: { from: '2026-11-01T00:00:00.000Z', to: null, vat_number: null, reference: 'R' },
      first_checked_at: null,
      counts: { checks: 0, exchanges: 0, anchors: 0 },
    });
    expect(await read('proofs.jsonl')).toBe('');
  });

  it('escapes cells that a spreadsheet would execute', async () => {
    const { read } = await unpack(await sample(4));
    const table = await read('checks.csv');
    expect(table).toContain(`,"'=1+1, ""Façade""\nGmbH",`);
    expect(table).toContain(`,"'+3;'-1",`);
    expect(await read('watch-changes.csv')).toContain(",'-supplier,validity,true,false,");
    expect(table).toMatch(/^\ufeffid,checked_at,vat_number,/);
  });

  it('has no SHA256SUMS.tsr if no authority answers', async () => {
    const { files } = await unpack(empty(), { stamp: async () => null });
    expect(files.filter((file) => file.startsWith('SHA256SUMS'))).toEqual(['SHA256SUMS']);
  });

  it('ends its sources when the reader stops', async () => {
    let [asked, ended] = [0, 0];
    async function* endless() {
      try {
        for (;;) {
          const { bytes, hash } = hashCheck(sampleBody(asked));
          const answer = sampleExchange(asked, 'x'.repeat(50_000));
          asked += 1;
          yield { bytes, hash, exchanges: [answer], token: null, proof: null };
        }
      } finally {
        ended += 1;
      }
    }
    const zip = writeDossier({ ...empty(), checks: endless() }, options);
    zip.on('data', () => asked > 10 && zip.destroy());
    await once(zip, 'close');
    expect(ended).toBe(1);
    // The source is read ahead only by the size of the stream's buffers.
    expect(asked).toBeLessThan(30);
  });

  it('fails with the error of a source or of the time-stamp', async () => {
    async function* broken(): AsyncGenerator<never, void, undefined> {
      yield await Promise.reject(new Error('the database went away'));
    }
    const broke = buffer(writeDossier({ ...empty(), anchors: broken() }, options));
    await expect(broke).rejects.toThrow('the database went away');
    const refuse = async () => Promise.reject(new Error('no stamp'));
    await expect(buffer(writeDossier(empty(), { ...options, stamp: refuse }))).rejects.toThrow('no stamp');
  });

  it('rejects a source with repeated or unordered items', async () => {
    async function* twice() {
      const body = Buffer.from('{}');
      yield { seq: 1, body, token: null };
      yield { seq: 1, body, token: null };
    }
    const zip = buffer(writeDossier({ ...empty(), anchors: twice() }, options));
    await expect(zip).rejects.toThrow('returned 1 after 1');
  });
});
