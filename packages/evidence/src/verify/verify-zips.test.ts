import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import type { DossierFile } from '../dossier/dossier-file.js';
import { endRecords } from '../dossier/zip-files.js';
import { verifyDossier } from '../verify-dossier/index.js';
import { auditorOfTests } from './open-auditor.fixture.js';

const VERIFIER = fileURLToPath(new URL('../../assets/verify.py', import.meta.url));
const END = 22;
const FAR_END = 76;

const auditor = auditorOfTests();

/** The results of both verifiers, and the kinds of problems that both found. */
const verifyBoth = async (bytes: Buffer<ArrayBuffer>) => {
  const file = path.join(await auditor.makeFolder(), 'dossier.zip');
  await writeFile(file, bytes);
  const { output } = await auditor.run('python3', ['-I', VERIFIER, file, '--json']);
  const reports = [
    JSON.parse(output) as Awaited<ReturnType<typeof verifyDossier>>,
    await verifyDossier(new Blob([bytes])),
  ];
  return reports.map(({ result, reason, problems }) => [result, reason?.code, ...problems.map(({ code }) => code)]);
};
const both = (...found: (string | undefined)[]) => [found, found];
const HOLDS = both('holds', undefined);
const NOT_A_ZIP = both('not_checked', 'not_a_zip');

const zipOf = async (
  change?: (text: string) => string,
  more: readonly DossierFile[] = [],
): Promise<Buffer<ArrayBuffer>> => {
  const copy = await auditor.tamper();
  if (change) await copy.write('checks.csv', change(await copy.read('checks.csv')));
  return Buffer.from(await (await copy.zip(more)).arrayBuffer());
};
/** Of the same length, so that its parts are at the same places. */
const forgedZip = () => zipOf((text) => text.replaceAll(',true,', ',nope,'));

type Directory = { entries: number; size: number; offset: number };
const directoryOf = (zip: Buffer): Directory => {
  const [entries, size, offset] = [
    zip.readUInt16LE(zip.length - 12),
    zip.readUInt32LE(zip.length - 10),
    zip.readUInt32LE(zip.length - 6),
  ];
  return { entries, size, offset };
};
/** The records that are before the end of a zip with many files. */
const farEnd = ({ entries, size, offset }: Directory): Buffer => {
  const records = endRecords({ entries: 0xffff, size, offset }).subarray(0, FAR_END);
  for (const at of [24, 32]) records.writeBigUInt64LE(BigInt(entries), at);
  return records;
};
/** The directory of a zip whose files are `by` bytes later. */
const shifted = (zip: Buffer, by: number): Buffer => {
  const { entries, size, offset } = directoryOf(zip);
  const directory = Buffer.from(zip.subarray(offset, offset + size));
  let at = 0;
  for (let entry = 0; entry < entries; entry += 1) {
    directory.writeUInt32LE(directory.readUInt32LE(at + 42) + by, at + 42);
    at += 46 + directory.readUInt16LE(at + 28);
  }
  return directory;
};

describe('a zip file', () => {
  it('holds with a comment, and with the records of a large one', async () => {
    const zip = await zipOf();
    expect(await verifyBoth(zip)).toEqual(HOLDS);
    const commented = Buffer.concat([zip, Buffer.from('a comment')]);
    commented.writeUInt16LE(9, zip.length - 2);
    expect(await verifyBoth(commented)).toEqual(HOLDS);
    const end = zip.length - END;
    const large = Buffer.concat([zip.subarray(0, end), farEnd(directoryOf(zip)), zip.subarray(end)]);
    expect(await verifyBoth(large)).toEqual(HOLDS);
    for (const at of [8, 10]) large.writeUInt16LE(0xffff, large.length - END + at);
    for (const at of [12, 16]) large.writeUInt32LE(0xffff_ffff, large.length - END + at);
    expect(await verifyBoth(large)).toEqual(HOLDS);
  });

  it('is not read if programs find another dossier in it', async () => {
    const [zip, forged] = [await zipOf(), await forgedZip()];
    expect(forged).toHaveLength(zip.length);
    expect((await verifyBoth(forged)).every(([result]) => result === 'does_not_hold')).toBe(true);
    // Programs that look at the stated position find the forged one, and those that look before the end the genuine one.
    expect(await verifyBoth(Buffer.concat([forged, zip]))).toEqual(NOT_A_ZIP);
    // The records of a large zip state the genuine one, and the end, which is all that other programs read, the forged one.
    const { entries, size, offset } = directoryOf(zip);
    const before = forged.subarray(0, -END);
    const directory = shifted(zip, before.length);
    const records = farEnd({ entries, size, offset: before.length + offset });
    const twofold = Buffer.concat([before, zip.subarray(0, offset), directory, records, forged.subarray(-END)]);
    expect(await verifyBoth(twofold)).toEqual(NOT_A_ZIP);
    expect(await verifyBoth(Buffer.concat([zip, Buffer.from('more')]))).toEqual(NOT_A_ZIP);
  });

  it('is not read if it states fewer files than it has: programs unpack the later of two with one name', async () => {
    const zip = await zipOf(undefined, [{ path: 'checks.csv', bytes: Buffer.from('forged') }]);
    const end = zip.length - END;
    for (const at of [8, 10]) zip.writeUInt16LE(zip.readUInt16LE(end + at) - 1, end + at);
    expect(await verifyBoth(zip)).toEqual(NOT_A_ZIP);
  });

  it('is not read if a file has a second name, by which some programs unpack it', async () => {
    const zip = await zipOf();
    const { size, offset } = directoryOf(zip);
    const end = offset + 46 + zip.readUInt16LE(offset + 28);
    const name = zip.subarray(offset + 46, end);
    const second = Buffer.concat([Buffer.alloc(9), Buffer.from('checks.csv')]);
    second.writeUInt16LE(0x7075, 0);
    second.writeUInt16LE(second.length - 4, 2);
    second.writeUInt8(1, 4);
    second.writeUInt32LE(crc32(name), 5);
    const named = Buffer.concat([zip.subarray(0, end), second, zip.subarray(end)]);
    named.writeUInt16LE(second.length, offset + 30);
    named.writeUInt32LE(size + second.length, named.length - 10);
    expect(await verifyBoth(named)).toEqual(NOT_A_ZIP);
  });

  it('is not read if a file that is not compressed has two sizes, of which programs take either', async () => {
    const zip = await zipOf();
    const { offset } = directoryOf(zip);
    zip.writeUInt32LE(zip.readUInt32LE(offset + 20) + 1, offset + 20);
    expect(await verifyBoth(zip)).toEqual(NOT_A_ZIP);
  });

  it('does not hold if the header before a file has another name than the directory', async () => {
    const zip = await zipOf();
    const { offset } = directoryOf(zip);
    const header = zip.readUInt32LE(offset + 42);
    zip.write('X', header + 30);
    expect(await verifyBoth(zip)).toEqual(both('does_not_hold', undefined, 'file_damaged', 'file_missing'));
  });

  it('does not hold with two files whose names are the same on another machine', async () => {
    for (const name of ['Checks.CSV', 'checks.csv.', 'CHECKS.csv. .']) {
      const zip = await zipOf(undefined, [{ path: name, bytes: Buffer.from('forged') }]);
      expect(await verifyBoth(zip)).toEqual(both('does_not_hold', undefined, 'file_repeated'));
    }
  });
});
