import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { provideAuditorTools, type RunTool } from '@vat/testkit';
import fc from 'fast-check';
import type { DossierFile } from './dossier-file.js';
import { coalesceBytes, directoryHeader, endRecords, zipFiles } from './zip-files.js';

// The first test of a clone may have to fetch python3.

const modified = new Date('2026-11-20T14:00:02.000Z');
const LIST = `
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as z:
    assert z.testzip() is None
    print(json.dumps([len(z.infolist()), [[i.filename, i.file_size, list(i.date_time), oct(i.external_attr >> 16)] for i in z.infolist()[-2:]]]))
`;

let run: RunTool;
let folder: string;
beforeAll(async () => {
  run = await provideAuditorTools();
  folder = await mkdtemp(path.join(tmpdir(), 'vat-zip-'));
});
afterAll(async () => {
  if (folder) await rm(folder, { recursive: true, force: true });
});

async function* each(files: Iterable<DossierFile>): AsyncGenerator<DossierFile, void, undefined> {
  yield* files;
}
const zipOf = (files: Iterable<DossierFile>): Promise<Buffer> => buffer(zipFiles(each(files), modified));
const list = async (zip: Buffer) => {
  const file = path.join(folder, 'a.zip');
  await writeFile(file, zip);
  const { code, output } = await run('python3', ['-c', LIST, file]);
  expect({ code, output }).toMatchObject({ code: 0 });
  return JSON.parse(output) as [number, unknown[]];
};

describe('zipFiles', () => {
  it("is read by Python's zipfile, with sizes, dates, modes and checksums", async () => {
    const files = [
      { path: 'a/Ω.txt', bytes: Buffer.alloc(200_000, 'x') },
      { path: 'verify.sh', bytes: Buffer.alloc(0) },
    ];
    const date = [2026, 11, 20, 14, 0, 2];
    expect(await list(await zipOf(files))).toEqual([
      2,
      [
        ['a/Ω.txt', 200_000, date, '0o100644'],
        ['verify.sh', 0, date, '0o100755'],
      ],
    ]);
    expect(await list(await zipOf([]))).toEqual([0, []]);
  });

  it('can contain more files than the original format allows', async () => {
    const bytes = Buffer.from('{}');
    const files = Array.from({ length: 65_537 }, (_, number) => ({ path: `${number}.json`, bytes }));
    expect((await list(await zipOf(files)))[0]).toBe(65_537);
  });

  it('records the offset of a file past 4 GiB and of its directory', () => {
    const offset = 2 ** 32 + 7;
    const entry = { name: Buffer.from('far'), crc: 1, size: 2, offset, mode: 0o644, modified };
    const header = directoryHeader(entry);
    expect(header.readUInt32LE(42)).toBe(0xffff_ffff);
    expect(header.readBigUInt64LE(46 + 3 + 4)).toBe(BigInt(offset));
    const end = endRecords({ entries: 1, size: header.length, offset });
    expect(end.readBigUInt64LE(48)).toBe(BigInt(offset));
    expect(end.readBigUInt64LE(56 + 8)).toBe(BigInt(offset + header.length));
    expect(end.readUInt32LE(76 + 16)).toBe(0xffff_ffff);
  });

  it('is produced in chunks of at least 64 KiB', async () => {
    const files = Array.from({ length: 400 }, (_, number) => ({ path: `${number}`, bytes: Buffer.alloc(1_000) }));
    const sizes: number[] = [];
    for await (const chunk of zipFiles(each(files), modified)) sizes.push(chunk.length);
    expect(sizes.length).toBeGreaterThan(5);
    for (const size of sizes.slice(0, -1)) expect(size).toBeGreaterThanOrEqual(65_536);
  });
});

describe('coalesceBytes', () => {
  it('returns everything that was added, in order', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 40 }),
      fc.uint8Array({ maxLength: 40 }),
      fc.constantFrom('x'.repeat(262_143), 'é'.repeat(200_000)),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const gathered = coalesceBytes();
        for (const one of pieces) gathered.add(one);
        expect(gathered.take().equals(Buffer.concat(pieces.map((one) => Buffer.from(one as string))))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});
