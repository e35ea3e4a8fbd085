import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { type Reader, unzipRaw, type ZipEntry } from 'unzipit';
import { checkDirectory, readPart } from './check-directory.js';
import { NotChecked, type ReportBuilder } from './dossier-report.js';

/** The file of the checksums, which the time-stamp of the whole dossier covers. */
export const SUMS = 'SHA256SUMS';

/** A file of a dossier. `bytes`: null for files whose content is only hashed. */
export type ReadFile = { size: number; sha256: string; bytes: Uint8Array | null };

/** The files of a dossier by path, with forward slashes. */
export class DossierFiles extends Map<string, ReadFile> {
  /** The file whose content was read last: what a library rejects is in it. */
  lastRead = SUMS;
}

/** Limits of what is read. A dossier of 10 000 checks has some 70 000 files and 200 MB. */
const LIMITS = { files: 300_000, bytes: 2 * 1024 ** 3, file: 256 * 1024 ** 2 } as const;
const WINDOW_BYTES = 4 * 1024 ** 2;

/** Reads a zip in windows: a call for each of 70 000 files takes too long. */
const windowReader = (zip: Blob): Reader => {
  let [start, window] = [0, new Uint8Array()];
  return {
    getLength: async () => zip.size,
    read: async (offset, length) => {
      if (offset < start || offset + length > start + window.length) {
        const end = offset + Math.max(length, WINDOW_BYTES);
        [start, window] = [offset, await readPart(zip.slice(offset, end))];
      }
      return window.subarray(offset - start, offset - start + length);
    },
  };
};

/** Bodies of exchanges, pages and programs are compared by their hashes alone. */
const isOnlyHashed = (path: string) => /\.(request|response|pdf|py|sh|txt)$/.test(path);

const isOrdinary = ({ name, externalFileAttributes }: ZipEntry): boolean => {
  const kind = (externalFileAttributes >>> 16) & 0o170000;
  const plain = /^[A-Za-z0-9._ /-]+$/.test(name) && !name.split('/').some((part) => ['', '.', '..'].includes(part));
  return plain && (kind === 0 || kind === 0o100000);
};

/** Windows ignores upper case, and dots and spaces at the end; macOS ignores upper case. The second file replaces the first. */
const alikeName = (path: string): string => {
  const trimmed = path.split('/').map((part) => {
    let end = part.length;
    while (end > 0 && '. '.includes(part.charAt(end - 1))) end -= 1;
    return part.slice(0, end);
  });
  return trimmed.join('/').toLowerCase();
};

/** The entries of the zip's directory. Only those count: there are no other bytes. */
const listEntries = async (zip: Blob, reader: Reader): Promise<ZipEntry[]> => {
  const tooLarge = () =>
    new NotChecked(
      'too_large',
      'The file is larger than a browser can verify. Verify it with verify.py, which GET /verifier names.',
    );
  if (zip.size > LIMITS.bytes) throw tooLarge();
  const open = async (): Promise<ZipEntry[]> => {
    await checkDirectory(zip, reader);
    return (await unzipRaw(reader)).entries;
  };
  const entries = await open().catch((error: unknown) => {
    if (error instanceof NotChecked) throw error;
    throw new NotChecked(
      'not_a_zip',
      'The file is not a complete zip file. Choose the dossier.zip that was exported; if its download broke off, download it again.',
    );
  });
  const sizes = entries.map(({ size, compressedSize }) => Math.max(size, compressedSize));
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (entries.length > LIMITS.files || total > LIMITS.bytes || sizes.some((size) => size > LIMITS.file))
    throw tooLarge();
  return entries.filter(({ name }) => !name.endsWith('/'));
};

/** The folder that all files are in, with a slash, because some programs add one when they zip; otherwise nothing. */
const commonFolder = (paths: readonly string[]): string => {
  const folder = paths[0]?.match(/^[^/]+\//)?.[0] ?? '';
  return paths.includes(`${folder}${SUMS}`) && paths.every((path) => path.startsWith(folder)) ? folder : '';
};

/**
 * Reads and hashes every file of a zipped dossier. Reports irregular, repeated and damaged entries. Throws {@link NotChecked}
 * if it is no zip, no dossier, or too large. The checksums of the zip are ignored: SHA256SUMS shows what was changed. The files
 * are in the order of their paths, as in verify.py: which problems precede a file that ends the verification depends on it.
 */
export const readDossierZip = async (
  zip: Blob,
  { problem }: Pick<ReportBuilder, 'problem'>,
  onProgress: (done: number, total: number) => void,
): Promise<DossierFiles> => {
  const reader = windowReader(zip);
  const entries = await listEntries(zip, reader);
  const folder = commonFolder(entries.map(({ name }) => name));
  const files = new DossierFiles();
  const names = new Set<string>();
  // Of a file that is no dossier, such as a workbook, they say nothing.
  const problems: Parameters<typeof problem>[] = [];
  for (const [index, entry] of entries.entries()) {
    onProgress(index, entries.length);
    const path = entry.name.slice(folder.length);
    const alike = alikeName(path);
    if (!isOrdinary(entry)) problems.push(['irregular_file', { file: path }]);
    else if (names.has(alike)) problems.push(['file_repeated', { file: path }]);
    else {
      names.add(alike);
      try {
        const bytes = new Uint8Array(await entry.arrayBuffer());
        const digest = bytesToHex(sha256(bytes));
        files.set(path, { size: bytes.length, sha256: digest, bytes: isOnlyHashed(path) ? null : bytes });
      } catch (error) {
        if (error instanceof NotChecked) throw error;
        problems.push(['file_damaged', { file: path, reason: (error as Error).message }]);
      }
    }
  }
  if (!files.has(SUMS) && !files.has('manifest.json'))
    throw new NotChecked('not_a_dossier', `The zip file is not a dossier: it contains no ${SUMS}.`);
  for (const found of problems) problem(...found);
  return new DossierFiles([...files].sort(([one], [other]) => (one < other ? -1 : 1)));
};
