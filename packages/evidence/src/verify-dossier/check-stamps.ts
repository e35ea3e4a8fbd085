import { Certificate } from 'pkijs';
import { counted, NotChecked, type ReportBuilder } from './dossier-report.js';
import { bytesOf, utc } from './read-content.js';
import { type DossierFiles, SUMS } from './read-dossier-zip.js';
import { openTokenVerifier, TokenRefused, type VerifiedStamp } from './verify-token.js';

const SEAL = 'SHA256SUMS.tsr';
const ROOTS = 'certs/tsa-roots.pem';
const INTERMEDIATES = 'certs/tsa-intermediates.pem';

/** The verified time-stamps by the path of the stamped file. */
export type FoundStamps = Map<string, VerifiedStamp>;

const PEM_BLOCK = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]*?)-----END CERTIFICATE-----/g;

/** The certificates in a PEM file, in DER; null if one of them is damaged. */
const readCertificates = (files: DossierFiles, path: string): Uint8Array[] | null => {
  const pem = new TextDecoder('latin1').decode(bytesOf(files, path));
  const blocks = [...pem.matchAll(PEM_BLOCK)];
  try {
    const certificates = blocks.map(([, body = '']) =>
      Uint8Array.from(atob(body.replace(/\s/g, '')), (letter) => letter.charCodeAt(0)),
    );
    for (const der of certificates) Certificate.fromBER(der.slice());
    return pem.split('CERTIFICATE-----').length - 1 === 2 * blocks.length ? certificates : null;
  } catch {
    return null;
  }
};

/** Pairs of a time-stamp and the file that it stamps; that of the whole dossier is first. */
const listStamps = (files: DossierFiles, report: ReportBuilder): [file: string, stamped: string][] => {
  const pairs: [string, string][] = [];
  if (files.has(SEAL)) pairs.push([SEAL, SUMS]);
  else report.problem('seal_missing', { file: SEAL });
  for (const file of files.keys()) {
    if (!file.endsWith('.tsr') || file === SEAL) continue;
    const [, folder, name] = file.match(/^(anchors|timestamps)\/([^/]+)\.tsr$/) ?? [];
    const stamped = folder === 'anchors' ? `anchors/${name}.json` : `checks/${name}.json`;
    if (folder !== undefined && files.has(stamped)) pairs.push([file, stamped]);
    else report.problem('stamp_of_nothing', { file });
  }
  return pairs;
};

/** Verifies every time-stamp. Throws {@link NotChecked} for one that browsers cannot verify. */
export const checkStamps = async (
  files: DossierFiles,
  report: ReportBuilder,
  onProgress: (done: number, total: number) => void,
): Promise<FoundStamps> => {
  const found: FoundStamps = new Map();
  const trusted = readCertificates(files, ROOTS);
  if (trusted === null || trusted.length === 0) {
    report.problem('roots_missing', { file: ROOTS });
    return found;
  }
  const intermediates = files.has(INTERMEDIATES) ? readCertificates(files, INTERMEDIATES) : [];
  if (intermediates === null) throw new Error('a certificate is damaged');
  const verify = openTokenVerifier({ trusted, intermediates });
  const pairs = listStamps(files, report);
  let unsupported: NotChecked | null = null;
  for (const [index, [file, stamped]] of pairs.entries()) {
    onProgress(index, pairs.length);
    try {
      const parts = { token: bytesOf(files, file), stamped: bytesOf(files, stamped), isSeal: file === SEAL };
      found.set(stamped, await verify(parts));
    } catch (error) {
      if (!(error instanceof TokenRefused)) throw error;
      if (error.refusal !== 'unsupported') report.problem(error.refusal, { file, stamped, reason: error.message });
      else
        unsupported ??= new NotChecked(
          'unsupported_stamp',
          `The time-stamp ${file} cannot be verified in a browser: ${error.message}. Verify the dossier with verify.py.`,
        );
    }
  }
  if (unsupported) throw unsupported;
  const seal = found.get(SUMS);
  if (seal)
    report.passed(`The whole dossier is unchanged since ${utc(seal.genTime / 1_000)}, according to its time-stamp.`);
  const authorities = [...new Set([...found.values()].map(({ authority }) => authority))].sort();
  report.passed(
    `${counted(found.size, 'time-stamp verifies. It was', 'time-stamps verify. They were')} issued by: ${authorities.join(', ')}.`,
  );
  report.note(
    'The root certificates of the time-stamps came with the dossier: compare them with those that the authority publishes.',
  );
  return found;
};
