import { publicId, readableEntries } from '@vat/domain';
import { type DossierFile, jsonFile } from './dossier-file.js';
import type { DossierRequest } from './dossier-source.js';
import { exchangeFiles } from './exchange-files.js';

const iso = (at: Date | null): string | null => at?.toISOString() ?? null;

/** Columns of `requests.csv`. */
export const REQUEST_COLUMNS = [
  'id',
  'vat_number',
  'status',
  'created_at',
  'ended_at',
  'attempts',
  'last_error',
  'reason',
];

/** A request as a row of `requests.csv`. */
export const requestCells = (request: DossierRequest): string[] => [
  publicId('request', request.id),
  request.vatNumber,
  request.status,
  request.createdAt.toISOString(),
  iso(request.endedAt) ?? '',
  String(request.attempts),
  request.lastError ?? '',
  request.reason ?? '',
];

/** A request that came to nothing as files in `requests/<id>/`: `request.json`, and its exchanges. */
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
