import { type CheckBody, type DocumentLanguage, publicId } from '@vat/domain';
import { formatTime, TERMS } from '../languages/terms.js';
import { type CheckTexts, checkTexts } from './check-texts.js';
import { openPage } from './open-page.js';
import type { Page } from './page.js';
import type { PageFonts } from './page-fonts.js';
import { type ProvenCheck, proofFiles, type StampWithToken } from './proof-files.js';
import { CERTIFICATE_TEXTS, type CertificateTexts } from './texts/index.js';

export type CertificateInput = ProvenCheck & {
  language: DocumentLanguage;
  /** The time that is printed as the time of issue; equal input gives equal bytes. */
  issuedAt: Date;
  /** BASE_URL, where the evidence can be downloaded, without a trailing slash. */
  serviceUrl: string;
  /** The page where anybody can verify the check; null: there is none, so no QR code is drawn. */
  publicUrl: string | null;
};

const VERDICT_COLORS = { valid: '#1b6e3c', invalid: '#a3211b', malformed: '#8a5a00' } as const;
const TEST_COLOR = '#4a4a4a';
/** The height for one step, enough for the address of a service with a long name. */
const STEP = { height: 34 };
/** For values of many words. */
const DETAIL = { sizes: [8, 7.5] } as const;
/** The heights of sections that stay on one page. */
const EVIDENCE_HEIGHT = 170;
const VERIFY_HEIGHT = 132;

/** Verifies a time-stamp as of its own time: the authority's certificate may have expired when the page is read. */
const verifyCommand = ({ genTime }: StampWithToken): string =>
  `openssl ts -verify -data check.json -in check.tsr -CAfile roots.pem -attime ${Math.floor(genTime.getTime() / 1_000)}`;

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

type Drawing = {
  page: Page;
  input: CertificateInput;
  check: CheckBody;
  texts: CertificateTexts;
  values: CheckTexts;
  utc: (at: Date | string) => string;
};

const writeResult = ({ page, check, texts, values, utc }: Drawing): void => {
  // A test asked no member state.
  const disclosed = check.verdict === 'valid' && !check.test ? texts.notDisclosed : null;
  page.row(texts.grade, values.grade, { height: 24 });
  page.row(texts.name, check.name ?? disclosed, { height: 36 });
  page.row(texts.address, check.address ?? disclosed, { height: 60 });
  page.row(texts.input, check.input === check.vat_number ? null : check.input, { height: 12 });
  page.row(texts.requester, check.requester_vat_number);
  page.row(texts.consultationNumber, values.consultationNumber);
  page.row(texts.viesMatch, values.viesMatch, { height: 24 });
  page.row(texts.given, values.given, { height: 24, ...DETAIL });
  page.row(texts.match, values.match, { height: 44, ...DETAIL });
  page.row(texts.registers, values.registers, { height: 104, ...DETAIL });
  page.row(texts.reference, check.reference, { height: 24 });
  page.row(texts.checkedAt, utc(check.checked_at));
  page.row(texts.check, check.id);
  page.row(texts.request, check.request_id);
};

const writeSources = ({ page, texts: { sources, columns }, values }: Drawing): void => {
  page.section(sources);
  const head = [columns.source, columns.outcome, columns.calls, columns.started, columns.duration];
  page.table([24, 34, 10, 23, 9], [head, ...values.sources]);
};

const writeEvidence = ({ page, input, check: { test }, texts, utc }: Drawing, files: string): void => {
  const { check, timestamp, anchor } = input;
  const stamped = ({ genTime, authority, development }: StampWithToken): string =>
    `${texts.stamped(utc(genTime), authority)}${development ? `. ${texts.development}` : ''}`;
  page.ensureRoom(EVIDENCE_HEIGHT, texts.footer);
  page.section(texts.evidence);
  page.row(texts.hash, `sha256:${hex(check.hash)}`, { face: 'mono', sizes: [7.5, 7], height: 20 });
  page.row(texts.timestamp, timestamp ? stamped(timestamp) : test ? texts.neverForTests : texts.notStamped, {
    height: 24,
  });
  if (anchor) {
    const { id, seq, closedAt, treeSize, root, stamp, proof } = anchor;
    const position = texts.position(seq, utc(closedAt), proof.leafIndex + 1, treeSize);
    page.row(texts.anchor, `${publicId('anchor', id)}, ${position}`, { height: 24 });
    page.row(texts.root, hex(root), { face: 'mono', sizes: [7.5, 7], height: 20 });
    page.row(texts.anchorStamp, stamp ? stamped(stamp) : texts.notStamped, { height: 24 });
  } else page.row(texts.anchor, test ? texts.neverForTests : texts.notAnchored);
  page.row(texts.attachments, files);
};

const writeSteps = ({ page, input, check, texts }: Drawing): void => {
  const { steps, dossier } = texts;
  page.ensureRoom(VERIFY_HEIGHT, texts.footer);
  page.section(texts.verify);
  if (input.publicUrl !== null) page.qrCode(input.publicUrl, texts.scan);
  const lines = [
    steps.record(`${input.serviceUrl}/v1/checks/${check.id}/evidence`),
    ...(input.timestamp ? [steps.timestamp(verifyCommand(input.timestamp))] : []),
    ...(input.anchor ? [steps.anchor] : []),
    // A dossier holds no test checks.
    ...(check.test ? [] : [dossier]),
    ...(input.publicUrl === null ? [] : [steps.online(input.publicUrl)]),
  ];
  for (const [index, line] of lines.entries()) page.paragraph(`${index + 1}. ${line}`, STEP);
};

/**
 * Makes the certificate of one check (PDF/A-3b) in a language, with the files that prove the check attached: one A4 page, or
 * two, for every verdict. A test check is marked TEST across the page. Long or hostile texts are shrunk and truncated to fit;
 * the evidence contains the full text. `fonts` are parsed once for all certificates.
 */
export const certificatePdf =
  (fonts: PageFonts) =>
  async (input: CertificateInput): Promise<Uint8Array> => {
    const { check: stored, language, issuedAt, serviceUrl } = input;
    const check = JSON.parse(Buffer.from(stored.bytes).toString('utf8')) as CheckBody;
    const texts = CERTIFICATE_TEXTS[language];
    const title = TERMS[language].explained(texts.title, check.vat_number);
    const page = await openPage({ title, subject: check.id, at: issuedAt, language, fonts });
    const utc = (at: Date | string) => formatTime(at, language);
    const values = checkTexts(check, language);
    const drawing: Drawing = { page, input, check, texts, values, utc };
    const word = texts.verdicts[check.verdict];
    if (check.test) page.watermark(texts.test);
    page.title(texts.title, texts.made(utc(issuedAt), serviceUrl));
    page.band(
      check.test ? TEST_COLOR : VERDICT_COLORS[check.verdict],
      check.vat_number,
      check.test ? `${texts.test} · ${word}` : word,
      values.sentence,
    );
    writeResult(drawing);
    writeSources(drawing);
    const files = proofFiles(input, { id: check.id, checkedAt: new Date(check.checked_at) });
    for (const file of files) page.attach(file);
    writeEvidence(drawing, files.map(({ name }) => name).join(', '));
    writeSteps(drawing);
    return page.close(texts.footer);
  };
