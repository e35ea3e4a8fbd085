import { hash } from 'node:crypto';
import type { Exchange } from '@vat/domain';
import { type DossierFile, jsonFile } from './dossier-file.js';

const described = (name: string | null, body: Uint8Array) => ({
  file: name,
  size: body.length,
  sha256: hash('sha256', body, 'hex'),
});

const filesOf = (stem: string, exchange: Exchange): DossierFile[] => {
  const name = stem.slice(stem.lastIndexOf('/') + 1);
  const { request, response } = exchange;
  // A GET has no body: an empty file would say that it had an empty one.
  const requestName = request.body.length > 0 ? `${name}.request` : null;
  const record = {
    source: exchange.source,
    started_at: exchange.startedAt.toISOString(),
    duration_ms: exchange.durationMs,
    request: {
      method: request.method,
      url: request.url,
      headers: request.headers,
      ...described(requestName, request.body),
    },
    response: response && {
      status: response.status,
      headers: response.headers,
      complete: response.complete,
      ...described(`${name}.response`, response.body),
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
 * Exchanges as files in `folder`, numbered in their order: `01-vies.json` with status, times and hashes, and the bodies
 * beside it as they went over the wire. An exchange without an answer has no `.response`.
 */
export const exchangeFiles = (folder: string, exchanges: readonly Exchange[]): DossierFile[] =>
  exchanges.flatMap((exchange, index) =>
    filesOf(`${folder}/${String(index + 1).padStart(2, '0')}-${exchange.source}`, exchange),
  );
