import { hash } from 'node:crypto';
import { type CheckBody, type Exchange, publicId, readableEntries } from '@vat/domain';
import { type DossierFile, jsonFile } from './dossier-file.js';
import type { DossierCheck, DossierRequest, DossierWatchChange } from './dossier-source.js';

const describeBody = (name: string | null, body: Uint8Array) => ({
  file: name,
  size: body.length,
  sha256: hash('sha256', body, 'hex'),
});

const filesOf = (stem: string, exchange: Exchange): DossierFile[] => {
  const name = stem.slice(stem.lastIndexOf('/') + 1);
  const { request, response } = exchange;
  // A GET has no body, so it gets no file: an empty file would stand for an empty body.
  const requestName = request.body.length > 0 ? `${name}.request` : null;
  const record = {
    source: exchange.source,
    started_at: exchange.startedAt.toISOString(),
    duration_ms: exchange.durationMs,
    request: {
      method: request.method,
      url: request.url,
      headers: request.headers,
      ...describeBody(requestName, request.body),
    },
    response: response && {
      status: response.status,
      headers: response.headers,
      complete: response.complete,
      ...describeBody(`${name}.response`, response.body),
    },
    error: exchange.error,
  };
  return [
    jsonFile(`${stem}.json`, record),
    ...(requestName ? [{ path: `${stem}.request`, bytes: request.body }] : []),
    ...(response ? [{ path: `${stem}.response`, bytes: response.body }] : []),
  ];
};

/**
 * Exchanges as files in `folder`, numbered in order: `01-vies.json` with status, times and hashes, and the bodies as they
 * were transmitted. An exchange without an answer has no `.response`.
 */
const exchangeFiles = (folder: string, exchanges: readonly Exchange[]): DossierFile[] =>
  exchanges.flatMap((exchange, index) =>
    filesOf(`${folder}/${String(index + 1).padStart(2, '0')}-${exchange.source}`, exchange),
  );

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** A CSV file: each column with its cell in a row. */
export type CsvTable<Row extends readonly unknown[]> = Readonly<Record<string, (...row: Row) => string>>;

/** `checks.csv`, from a check and its parsed bytes. A column with the name of a field of the check contains that field. */
export const CHECKS_TABLE: CsvTable<[check: DossierCheck, body: CheckBody]> = {
  id: (_, { id }) => id,
  checked_at: (_, body) => body.checked_at,
  vat_number: (_, body) => body.vat_number,
  country_code: (_, body) => body.country_code,
  verdict: (_, { verdict }) => verdict,
  valid: (_, { valid }) => String(valid),
  name: (_, { name }) => name ?? '',
  address: (_, { address }) => address ?? '',
  requester_vat_number: (_, body) => body.requester_vat_number ?? '',
  consultation_number: (_, body) => body.consultation_number ?? '',
  reference: (_, { reference }) => reference ?? '',
  request_id: (_, body) => body.request_id,
  response_hash: ({ hash: hashed }) => `sha256:${hex(hashed)}`,
  timestamp: ({ token }) => (token ? 'yes' : ''),
  anchor_seq: ({ proof }) => (proof ? String(proof.seq) : ''),
  // Empty for checks that were recorded before checks had a grade.
  evidence_grade: (_, body) => body.evidence_grade ?? '',
};

/** The line of a check in `proofs.jsonl`; empty if the check is not anchored yet. `id`: its public id. */
export const proofLine = (id: string, { proof }: DossierCheck): string =>
  proof
    ? `${JSON.stringify({
        id,
        anchor_id: publicId('anchor', proof.anchorId),
        anchor_seq: proof.seq,
        leaf_index: proof.leafIndex,
        tree_size: proof.treeSize,
        path: proof.path.map(hex),
      })}\n`
    : '';

/** A check as files: the hashed bytes, its exchanges, and its time-stamp if it has one. `id`: its public id. */
export const checkFiles = (id: string, { bytes, exchanges, token }: DossierCheck): DossierFile[] => [
  { path: `checks/${id}.json`, bytes },
  ...exchangeFiles(`exchanges/${id}`, exchanges),
  ...(token ? [{ path: `timestamps/${id}.tsr`, bytes: token }] : []),
];

const iso = (at: Date | null): string | null => at?.toISOString() ?? null;

/** `requests.csv`. */
export const REQUESTS_TABLE: CsvTable<[DossierRequest]> = {
  id: ({ id }) => publicId('request', id),
  vat_number: ({ vatNumber }) => vatNumber,
  status: ({ status }) => status,
  created_at: ({ createdAt }) => createdAt.toISOString(),
  ended_at: ({ endedAt }) => iso(endedAt) ?? '',
  attempts: ({ attempts }) => String(attempts),
  last_error: ({ lastError }) => lastError ?? '',
  reason: ({ reason }) => reason ?? '',
};

/** A request without a check as files in `requests/<id>/`: `request.json` and its exchanges. */
export const requestFiles = (request: DossierRequest): DossierFile[] => {
  const id = publicId('request', request.id);
  const record = {
    id,
    object: 'request',
    status: request.status,
    vat_number: request.vatNumber,
    requester_vat_number: request.requester,
    reference: request.reference,
    created_at: request.createdAt.toISOString(),
    accepted_at: iso(request.acceptedAt),
    give_up_at: iso(request.giveUpAt),
    ended_at: iso(request.endedAt),
    attempts: request.attempts,
    last_error: request.lastError,
    reason: request.reason,
    checks: readableEntries(request.entries),
  };
  return [jsonFile(`requests/${id}/request.json`, record), ...exchangeFiles(`requests/${id}`, request.exchanges)];
};

/** `watch-changes.csv`. */
export const WATCH_CHANGES_TABLE: CsvTable<[DossierWatchChange]> = {
  changed_at: ({ changedAt }) => changedAt.toISOString(),
  vat_number: ({ vatNumber }) => vatNumber,
  label: ({ label }) => label ?? '',
  kind: ({ kind }) => kind,
  before: ({ before }) => String(before ?? ''),
  after: ({ after }) => String(after ?? ''),
  check_id: ({ checkId }) => publicId('check', checkId),
  watch_id: ({ watchId }) => publicId('watch', watchId),
};
