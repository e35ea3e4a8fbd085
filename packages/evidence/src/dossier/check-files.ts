import { type CheckBody, publicId } from '@vat/domain';
import type { DossierFile } from './dossier-file.js';
import type { DossierCheck } from './dossier-source.js';
import { exchangeFiles } from './exchange-files.js';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Columns of `checks.csv`; those that a check has too hold what it says. */
export const CHECK_COLUMNS = [
  'id',
  'checked_at',
  'vat_number',
  'country_code',
  'verdict',
  'valid',
  'name',
  'address',
  'requester_vat_number',
  'consultation_number',
  'reference',
  'request_id',
  'response_hash',
  'timestamp',
  'anchor_seq',
];

/** A check as a row of `checks.csv`. `body`: its bytes, read. */
export const checkCells = (check: DossierCheck, body: CheckBody): string[] => [
  body.id,
  body.checked_at,
  body.vat_number,
  body.country_code,
  body.verdict,
  String(body.valid),
  body.name ?? '',
  body.address ?? '',
  body.requester_vat_number ?? '',
  body.consultation_number ?? '',
  body.reference ?? '',
  body.request_id,
  `sha256:${hex(check.hash)}`,
  check.token ? 'yes' : '',
  check.proof ? String(check.proof.seq) : '',
];

/** A check's line of `proofs.jsonl`, or nothing while it is in no anchor. `id`: its public id. */
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

/** A check as files: the hashed bytes, its exchanges, its time-stamp where there is one. `id`: its public id. */
export const checkFiles = (id: string, { bytes, exchanges, token }: DossierCheck): DossierFile[] => [
  { path: `checks/${id}.json`, bytes },
  ...exchangeFiles(`exchanges/${id}`, exchanges),
  ...(token ? [{ path: `timestamps/${id}.tsr`, bytes: token }] : []),
];
