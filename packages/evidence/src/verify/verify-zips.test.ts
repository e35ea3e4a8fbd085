import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32, deflateRawSync } from 'node:zlib';
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

/** Where the last file of a zip begins, its name, and its bytes. */
const lastOf = (zip: Buffer) => {
  const { entries, offset } = directoryOf(zip);
  let at = offset;
  for (let entry = 1; entry < entries; entry += 1) at += 46 + zip.readUInt16LE(at + 28);
  const start = zip.readUInt32LE(at + 42);
  const contentStart = start + 30 + zip.readUInt16LE(start + 26);
  return { start, at, name: zip.subarray(start + 30, contentStart), content: zip.subarray(contentStart, offset) };
};
/** The zip with other bytes of its last file, and its two descriptions of that file, which may be changed. */
const withLast = (zip: Buffer, bytes: Buffer, packed = bytes.length) => {
  const { offset } = directoryOf(zip);
  const { start, at, content } = lastOf(zip);
  const changed = Buffer.concat([zip.subarray(0, offset - content.length), bytes, zip.subarray(offset)]);
  const moved = bytes.length - content.length;
  changed.writeUInt32LE(offset + moved, changed.length - 6);
  const [header, record] = [changed.subarray(start), changed.subarray(at + moved)];
  for (const [part, from] of [
    [header, 18],
    [record, 20],
  ] as const) {
    part.writeUInt32LE(packed, from);
  }
  return { header, record, zip: changed };
};
/** An extra field with another name of a file. */
const secondName = (name: Buffer): Buffer => {
  const field = Buffer.concat([Buffer.alloc(9), Buffer.from('checks.csv')]);
  field.writeUInt16LE(0x7075, 0);
  field.writeUInt16LE(field.length - 4, 2);
  field.writeUInt8(1, 4);
  field.writeUInt32LE(crc32(name), 5);
  return field;
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
    const second = secondName(zip.subarray(offset + 46, end));
    const named = Buffer.concat([zip.subarray(0, end), second, zip.subarray(end)]);
    named.writeUInt16LE(second.length, offset + 30);
    named.writeUInt32LE(size + second.length, named.length - 10);
    expect(await verifyBoth(named)).toEqual(NOT_A_ZIP);
    const { name, content } = lastOf(zip);
    const renamed = withLast(zip, Buffer.concat([secondName(name), content]), content.length);
    renamed.header.writeUInt16LE(secondName(name).length, 28);
    expect(await verifyBoth(renamed.zip)).toEqual(NOT_A_ZIP);
  });

  it('is not read if a file that is not compressed has two sizes, of which programs take either', async () => {
    const zip = await zipOf();
    const { offset } = directoryOf(zip);
    zip.writeUInt32LE(zip.readUInt32LE(offset + 20) + 1, offset + 20);
    expect(await verifyBoth(zip)).toEqual(NOT_A_ZIP);
  });

  it('is not read if the header before a file differs from the directory: programs read either', async () => {
    const zip = await zipOf();
    const { content } = lastOf(zip);
    const changes: ((header: Buffer) => unknown)[] = [
      (header) => header.write('X', 30),
      (header) => header.writeUInt16LE(header.readUInt16LE(26) - 1, 26),
      (header) => header.writeUInt16LE(8, 8),
      (header) => header.writeUInt32LE(content.length - 1, 18),
      (header) => header.writeUInt32LE(content.length - 1, 22),
    ];
    for (const change of changes) {
      const { header, zip: changed } = withLast(zip, content);
      expect(await verifyBoth(changed)).toEqual(HOLDS);
      change(header);
      expect(await verifyBoth(changed)).toEqual(NOT_A_ZIP);
    }
  });

  it('is not read if bytes in it belong to no file: programs that read it from its start find a file in them', async () => {
    const [zip, more] = [await zipOf(), await zipOf(undefined, [{ path: 'checks.csv', bytes: Buffer.from('forged') }])];
    const { content } = lastOf(zip);
    const hidden = more.subarray(lastOf(more).start, directoryOf(more).offset);
    const hiding = withLast(zip, Buffer.concat([content, hidden]), content.length);
    expect(await verifyBoth(hiding.zip)).toEqual(NOT_A_ZIP);
  });

  it('holds if the sizes of a file follow it, as programs write that do not know them before', async () => {
    const zip = await zipOf();
    const { content } = lastOf(zip);
    const packed = deflateRawSync(content);
    const sizes = Buffer.from('504b0708'.padEnd(32, '0'), 'hex');
    const { header, record, zip: written } = withLast(zip, Buffer.concat([packed, sizes]), packed.length);
    for (const at of [18, 22]) header.writeUInt32LE(0, at);
    for (const [part, at] of [
      [header, 6],
      [record, 8],
    ] as const) {
      part.writeUInt16LE(part.readUInt16LE(at) | 8, at);
      part.writeUInt16LE(8, at + 2);
    }
    expect(await verifyBoth(written)).toEqual(HOLDS);
  });

  it('does not hold if a file unpacks to more than its size, or has bytes after its end', async () => {
    const zip = await zipOf();
    const { content } = lastOf(zip);
    const more = Buffer.from('a forged row');
    const packed = deflateRawSync(content);
    const compressed = (bytes: Buffer) => {
      const { header, record, zip: changed } = withLast(zip, bytes);
      header.writeUInt16LE(8, 8);
      record.writeUInt16LE(8, 10);
      return verifyBoth(changed);
    };
    const damaged = both('does_not_hold', undefined, 'file_damaged', 'file_missing', 'rest_missing');
    expect(await compressed(packed)).toEqual(HOLDS);
    expect(await compressed(deflateRawSync(Buffer.concat([content, more])))).toEqual(damaged);
    // Node 20 inflates the content and ignores what follows; browsers do not.
    expect((await compressed(Buffer.concat([packed, more])))[0]).toEqual(damaged[0]);
  });

  it('does not hold with two files whose names are the same on another machine', async () => {
    for (const name of ['Checks.CSV', 'checks.csv.', 'CHECKS.csv. .']) {
      const zip = await zipOf(undefined, [{ path: name, bytes: Buffer.from('forged') }]);
      expect(await verifyBoth(zip)).toEqual(both('does_not_hold', undefined, 'file_repeated'));
    }
  });
});
