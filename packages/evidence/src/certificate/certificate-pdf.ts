import {
  type CheckBody,
  type EvidenceGrade,
  FACT_NAMES,
  type FactMatches,
  MATCHED_PARTS,
  publicId,
  SCORED_PARTS,
  type StampFacts,
  type StoredAnchor,
  type StoredCheck,
  TRADER_FIELDS,
  type TraderMatch,
} from '@vat/domain';
import { openPage, type Page } from './open-page.js';

/** The content of a certificate. `check`: the hashed bytes, so that the page shows what was hashed. */
export type CertificateInput = {
  check: Pick<StoredCheck, 'bytes' | 'hash'>;
  /** The time that is printed as the time of issue; equal input gives equal bytes. */
  issuedAt: Date;
  /** BASE_URL, where the evidence can be downloaded, without a trailing slash. */
  serviceUrl: string;
  /** The check's own time-stamp. */
  timestamp: Pick<StampFacts, 'genTime' | 'authority' | 'development'> | null;
  /** The anchor that contains the check, and the index of its leaf. */
  anchor:
    | (Pick<StoredAnchor, 'id' | 'seq' | 'closedAt' | 'treeSize' | 'root'> & {
        stamp: Pick<StampFacts, 'genTime' | 'authority' | 'development'> | null;
        leafIndex: number;
      })
    | null;
};

const VERDICTS = {
  valid: { word: 'VALID', color: '#1b6e3c' },
  invalid: { word: 'INVALID', color: '#a3211b' },
  malformed: { word: 'MALFORMED', color: '#8a5a00' },
} as const;

const TEST_COLOR = '#4a4a4a';
/** The space for one step, enough for the address of a service with a long name. */
const STEP = { height: 34 };

/** `2026-11-20 13:45:00.123 UTC` */
const utc = (at: Date | string): string =>
  (typeof at === 'string' ? at : at.toISOString()).replace('T', ' ').replace('Z', ' UTC');
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

const sentence = (check: CheckBody): string => {
  if (check.test)
    return 'TEST: answered by the sandbox of the service. No authority was queried; this proves nothing about the number.';
  const queried = check.checks.some(({ source }) => source === 'vies');
  if (check.verdict === 'malformed')
    return queried
      ? 'VIES rejected the number as malformed at the time below.'
      : 'The number does not have the format of its country; VIES was not queried.';
  const word = check.verdict === 'valid' ? 'valid' : 'not valid';
  return `VIES, the European Commission's validation system, answered at the time below that the number was ${word}.`;
};

const matched = (match: TraderMatch | null): string | null => {
  const parts = Object.entries(match ?? {}).filter(([, word]) => word !== null);
  return parts.length > 0 ? parts.map(([part, word]) => words(`${part}: ${word}`)).join(', ') : null;
};

const words = (name: string): string => name.replaceAll('_', ' ');

const GRADE_REASONS: Record<EvidenceGrade, string> = {
  none: 'the number is not valid',
  basic: 'VIES says valid; no source states name and address',
  named: 'VIES says valid, and a source states name and address',
  corroborated: 'a national register lists the trader as well',
  qualified: 'the lookup has a proof of its own, and every detail given about the trader agrees',
};

const graded = ({ evidence_grade: grade, checks }: CheckBody): string | null => {
  if (!grade) return null;
  const limited = checks.some(({ contradicts }) => contradicts) ? '; a source contradicts the verdict' : '';
  return `${grade}: ${GRADE_REASONS[grade]}${limited}`;
};

const given = ({ trader }: CheckBody): string | null =>
  TRADER_FIELDS.flatMap((part) => (trader?.[part] ? [`${words(part)}: ${trader[part]}`] : [])).join('; ') || null;

const scored = ({ match }: CheckBody): string | null => {
  if (!match) return null;
  if (match.score === null) return 'nothing to compare: no source states what was given';
  const parts = SCORED_PARTS.flatMap((part) => {
    const compared = match[part];
    return compared ? [`${words(part)} ${compared.score} (${compared.source}: ${compared.found})`] : [];
  });
  return `${match.score} of 100; ${parts.join('; ')}`;
};

const factText = (fact: string | string[] | FactMatches): string => {
  if (typeof fact === 'string') return fact;
  if (Array.isArray(fact)) return fact.join(' ') || 'none';
  return MATCHED_PARTS.map((part) => `${words(part)} ${fact[part]}`).join(', ');
};

/** One line for each source that states facts. */
const stated = ({ checks }: CheckBody): string | null =>
  checks
    .flatMap(({ source, facts }) => {
      const named = FACT_NAMES.flatMap((name) => {
        const fact = facts?.[name];
        return fact === undefined ? [] : [`${words(name)}: ${factText(fact)}`];
      });
      return named.length === 0 ? [] : [`${source}: ${named.join('; ')}`];
    })
    .join('\n') || null;

/** Why there is no consultation number. */
const withoutNumber = ({ checks, requester_vat_number: requester, test }: CheckBody): string => {
  if (test || !checks.some(({ source }) => source === 'vies')) return 'none: VIES was not queried';
  return requester === null
    ? 'none: VIES gives one only to a requester with a VAT number'
    : 'none: VIES gave none with its answer, although a requester was named';
};

const writeResult = (page: Page, check: CheckBody): void => {
  const disclosed = check.verdict === 'valid' ? 'not disclosed by the member state' : null;
  page.row('Evidence grade', graded(check), { height: 14 });
  page.row('Name', check.name ?? disclosed, { height: 36 });
  page.row('Address', check.address ?? disclosed, { height: 60 });
  page.row('Entered as', check.input === check.vat_number ? null : check.input, { height: 12 });
  page.row('Requester', check.requester_vat_number);
  page.row('Consultation number', check.consultation_number ?? withoutNumber(check));
  page.row('Trader match by VIES', matched(check.trader_match), { height: 24 });
  page.row('Trader as given', given(check), { height: 14 });
  page.row('Match with the trader', scored(check), { height: 24 });
  page.row('What registers state', stated(check), { height: 36 });
  page.row('Reference', check.reference, { height: 24 });
  page.row('Checked at', utc(check.checked_at));
  page.row('Check', check.id);
  page.row('Request', check.request_id);
};

const writeSources = (page: Page, check: CheckBody): void => {
  page.section('How the sources answered');
  page.table(
    [20, 17, 23, 6, 23, 11],
    [
      ['source', 'outcome', 'code', 'calls', 'started', 'duration'],
      ...check.checks.map((entry) => [
        entry.source,
        entry.contradicts ? `${entry.outcome}, contradicts` : entry.outcome,
        entry.code ?? '',
        String(entry.attempts ?? ''),
        utc(entry.started_at),
        `${entry.duration_ms} ms`,
      ]),
    ],
  );
};

const stamped = ({ genTime, authority, development }: NonNullable<CertificateInput['timestamp']>): string =>
  `${utc(genTime)} by ${authority}${development ? '. A development authority: worth nothing as evidence of time' : ''}`;

const writeEvidence = (page: Page, { check, timestamp, anchor }: CertificateInput): void => {
  page.section('Evidence');
  page.row('Response hash', `sha256:${hex(check.hash)}`, { face: 'mono', sizes: [7.5, 7], height: 20 });
  page.row('Time-stamp (RFC 3161)', timestamp ? stamped(timestamp) : 'none yet when this page was made', {
    height: 24,
  });
  if (!anchor) {
    page.row('Anchor', 'not anchored yet when this page was made');
    return;
  }
  const { id, seq, closedAt, leafIndex, treeSize, root, stamp } = anchor;
  const place = `number ${seq}, closed ${utc(closedAt)}; leaf ${leafIndex} of ${treeSize}`;
  page.row('Anchor', `${publicId('anchor', id)}, ${place}`, { height: 24 });
  page.row('Root of the anchor', hex(root), { face: 'mono', sizes: [7.5, 7], height: 20 });
  page.row('Its time-stamp', stamp ? stamped(stamp) : 'there was none yet when this page was made', { height: 24 });
};

/**
 * The certificate of one check: one A4 page (PDF), for every verdict. A test check is marked TEST across the page. Long or
 * hostile texts are shrunk and truncated to fit; the evidence contains the full text.
 */
export const certificatePdf = async (input: CertificateInput): Promise<Uint8Array> => {
  const { check: stored, issuedAt, serviceUrl } = input;
  const check = JSON.parse(Buffer.from(stored.bytes).toString('utf8')) as CheckBody;
  const page = await openPage({ title: `VAT number check ${check.id}`, subject: check.vat_number, at: issuedAt });
  const { word, color } = VERDICTS[check.verdict];
  if (check.test) page.watermark('TEST');
  page.title('Certificate of a VAT number check', `Made ${utc(issuedAt)} from the record of ${serviceUrl}`);
  page.band(check.test ? TEST_COLOR : color, check.vat_number, check.test ? `TEST · ${word}` : word, sentence(check));
  writeResult(page, check);
  writeSources(page, check);
  writeEvidence(page, input);
  page.section('How to verify');
  const where = `${serviceUrl}/v1/checks/${check.id}`;
  page.paragraph(`1. The record: ${where}/evidence. Its SHA-256 (sha256sum) is the response hash above.`, STEP);
  page.paragraph(
    `2. The time: openssl ts -verify of ${where}/timestamp.tsr over that record; ${where}/anchor leads from its hash to ` +
      'the root of the anchor (RFC 9162).',
    STEP,
  );
  page.paragraph('3. All of it without a network: export the dossier, unpack it, run sh verify.sh.', STEP);
  return page.close(
    'This page repeats what the record says; the record, not the page, is the evidence. It shows what the sources ' +
      'answered at the time given, and nothing about any other day.',
  );
};
