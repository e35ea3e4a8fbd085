import { type AnchorProof, type CheckBody, type Exchange, type IdKind, publicId } from '@vat/domain';
import { type Anchor, encodeAnchor } from '../anchor/anchor.js';
import { closeAnchor } from '../anchor/close-anchor.js';
import { hashCheck } from '../hash-check.js';
import { definedTree } from '../tree/defined-tree.fixture.js';
import type {
  DossierAnchor,
  DossierCheck,
  DossierRequest,
  DossierSource,
  DossierWatchChange,
} from './dossier-source.js';

/** In the past, because the authority that stamps the samples uses the current time. */
const NOON = Date.parse('2024-11-20T12:00:00.000Z');
const at = (seconds: number) => new Date(NOON + seconds * 1_000);
/** Ascending with `number`. */
const uuid = (number: number) => `0195f1e2-0000-7000-8000-${String(number).padStart(12, '0')}`;

export const sampleId = <Kind extends IdKind>(kind: Kind, number: number) => publicId(kind, uuid(number));
const NAMES = ['Żółć Gęślą Jaźń Sp. z o.o.', 'Ελληνική Εταιρεία Α.Ε.', 'Българска фирма ЕООД', '=1+1, "Façade"\nGmbH'];

/** The body of a check that VIES answered; each `number` gives a different one. */
export const sampleBody = (number: number, changes: Partial<CheckBody> = {}): CheckBody => ({
  id: sampleId('check', number),
  object: 'check',
  request_id: sampleId('request', number),
  vat_number: `PL52600${String(number).padStart(5, '0')}`,
  country_code: 'PL',
  input: `pl 52600${String(number).padStart(5, '0')}`,
  valid: true,
  verdict: 'valid',
  name: NAMES[number % NAMES.length] ?? null,
  address: 'ul. Łąkowa 7\n00-950 Warszawa',
  requester_vat_number: 'DE123456789',
  consultation_number: `WAPIAAAA${number}`,
  trader_match: null,
  // A spreadsheet whose cells end at semicolons reads the second part as a formula.
  reference: `+${number};-1`,
  checks: [
    { source: 'syntax', outcome: 'valid', started_at: at(number).toISOString(), duration_ms: 0 },
    { source: 'vies', outcome: 'valid', attempts: 1, started_at: at(number).toISOString(), duration_ms: 80 },
  ],
  checked_at: at(number).toISOString(),
  salt: String(number).padStart(32, '0'),
  hash_profile: 'jcs-sha256-v1',
  ...changes,
});

/** An exchange with VIES; null means that there was no answer. */
export const sampleExchange = (number: number, answer: string | null): Exchange => ({
  source: 'vies',
  startedAt: at(number),
  durationMs: 80,
  request: {
    method: 'POST',
    url: 'http://127.0.0.1:9/check-vat-number',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ countryCode: 'PL', vatNumber: String(number) })),
  },
  response:
    answer === null
      ? null
      : { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from(answer), complete: true },
  error: answer === null ? 'ECONNRESET' : null,
});

type Sample = {
  checks: number;
  /** Checks per anchor; the remaining ones that do not fill an anchor are not anchored. */
  perAnchor: number;
  stamp: (bytes: Uint8Array) => Promise<Uint8Array>;
  /** Length in bytes of an exchange's answer. */
  answerBytes?: number;
};

/** What a check has since there are matches and grades; every second sample is a check from before. */
const sampleMatch = (number: number): Partial<CheckBody> =>
  number % 2 === 0
    ? {}
    : {
        trader: { city: 'Warsaw' },
        match: {
          ...{ score: 100, name: null, street: null, postal_code: null },
          city: { score: 100, expected: 'Warsaw', found: 'Warszawa', source: 'vies' },
        },
        evidence_grade: 'qualified',
      };

const makeCheck = (number: number, answerBytes: number): DossierCheck => {
  const { bytes, hash } = hashCheck(sampleBody(number, sampleMatch(number)));
  const answer = JSON.stringify({ valid: true, filler: 'x'.repeat(answerBytes) });
  const exchanges = [...(number % 3 === 1 ? [sampleExchange(number, null)] : []), sampleExchange(number, answer)];
  return { bytes, hash, exchanges, token: null, proof: null };
};

async function* each<T>(items: readonly T[]): AsyncGenerator<T, void, undefined> {
  yield* items;
}

/**
 * The evidence of `checks` checks in anchors of `perAnchor`, the first two with their own time-stamp, one abandoned request
 * and one change of a watch.
 */
export const sampleSource = async ({ checks, perAnchor, stamp, answerBytes = 40 }: Sample): Promise<DossierSource> => {
  const made = Array.from({ length: checks }, (_, number) => makeCheck(number, answerBytes));
  const anchors: DossierAnchor[] = [];
  let previous: Anchor | null = null;
  for (let start = 0; start + perAnchor <= checks; start += perAnchor) {
    const leaves = made.slice(start, start + perAnchor);
    const tree = definedTree(leaves.map(({ hash }) => hash));
    const anchor: Anchor = closeAnchor({ previous, size: perAnchor, root: tree.root(), closedAt: at(start + 3_600) });
    leaves.forEach((check, leafIndex) => {
      const place = { anchorId: uuid(anchor.seq), seq: anchor.seq, leafIndex, treeSize: perAnchor };
      const proof: AnchorProof = { ...place, path: tree.path(leafIndex) };
      check.proof = proof;
    });
    const body = encodeAnchor(anchor);
    anchors.push({ seq: anchor.seq, body, token: await stamp(body) });
    previous = anchor;
  }
  for (const check of made.slice(0, 2)) check.token = await stamp(check.bytes);
  const abandoned: DossierRequest = {
    id: uuid(999),
    vatNumber: 'FR12345678901',
    requester: null,
    reference: '@ref',
    status: 'abandoned',
    createdAt: at(0),
    acceptedAt: at(20),
    giveUpAt: at(86_400),
    endedAt: at(86_400),
    attempts: 2,
    lastError: 'MS_UNAVAILABLE',
    reason: 'UPSTREAM_NO_ANSWER',
    entries: [{ source: 'vies', outcome: 'unavailable', started_at: at(0).toISOString(), duration_ms: 9 }],
    exchanges: [sampleExchange(1, null), sampleExchange(2, '{"actionSucceed":false}')],
  };
  const change: DossierWatchChange = {
    watchId: uuid(1),
    vatNumber: 'PL5260000001',
    label: '-supplier',
    kind: 'validity',
    before: true,
    after: false,
    checkId: uuid(1),
    changedAt: at(60),
  };
  return {
    checks: each(made),
    requests: each([abandoned]),
    anchors: each(anchors),
    links: each([]),
    watchChanges: each([change]),
  };
};
