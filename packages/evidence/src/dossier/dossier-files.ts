import type { CheckBody } from '@vat/domain';
import { readVerifier } from '../verify/read-verifier.js';
import { CHECK_COLUMNS, checkCells, checkFiles, proofLine } from './check-files.js';
import { csvRow } from './csv-row.js';
import { type DossierFile, jsonFile, textFile } from './dossier-file.js';
import type { DossierOptions, DossierSource } from './dossier-source.js';
import { gatherBytes } from './gather-bytes.js';
import { manifest } from './manifest.js';
import { REQUEST_COLUMNS, requestCells, requestFiles } from './request-files.js';
import { summaryPdf } from './summary-pdf.js';
import { emptyTally, tallyCheck } from './tally.js';
import { WATCH_CHANGE_COLUMNS, watchChangeCells } from './watch-change-cells.js';

/** Excel takes a file without this mark for one in the code page of its country, and garbles names. */
const BYTE_ORDER_MARK = '\ufeff';

const startCsv = (columns: readonly string[]) => {
  const rows = gatherBytes();
  rows.add(`${BYTE_ORDER_MARK}${csvRow(columns)}`);
  return { add: (cells: readonly string[]) => rows.add(csvRow(cells)), all: rows.all };
};

/** Passes items on in the order of their keys. Throws when one is not above the one before: it would be there twice. */
async function* rising<T>(
  items: AsyncIterable<T>,
  keyOf: (item: T) => string | number,
): AsyncGenerator<T, void, undefined> {
  let last: string | number | null = null;
  for await (const item of items) {
    const key = keyOf(item);
    if (last !== null && key <= last) throw new Error(`a dossier's source gives ${key} after ${last}`);
    last = key;
    yield item;
  }
}

const pem = (certificates: readonly string[]): string => certificates.map((text) => `${text.trim()}\n`).join('');

/**
 * Every file of a dossier but the seal, in a fixed order: explanations and certificates, checks with what belongs to
 * each, requests that came to nothing, anchors, and the tables and counts, which are known only at the end.
 */
export async function* dossierFiles(
  source: DossierSource,
  options: Omit<DossierOptions, 'stamp'>,
): AsyncGenerator<DossierFile, void, undefined> {
  const tally = emptyTally();
  const { counts } = tally;
  yield* await readVerifier();
  yield textFile('certs/tsa-roots.pem', pem(options.certificates.roots));
  yield textFile('certs/tsa-intermediates.pem', pem(options.certificates.intermediates));

  const checks = startCsv(CHECK_COLUMNS);
  const proofs = gatherBytes();
  for await (const check of rising(source.checks, ({ id }) => id)) {
    const body = JSON.parse(Buffer.from(check.bytes).toString('utf8')) as CheckBody;
    tallyCheck(tally, check, body);
    checks.add(checkCells(check, body));
    proofs.add(proofLine(check));
    yield* checkFiles(check);
  }
  yield { path: 'proofs.jsonl', bytes: proofs.all() };
  yield { path: 'checks.csv', bytes: checks.all() };

  const requests = startCsv(REQUEST_COLUMNS);
  for await (const request of rising(source.requests, ({ id }) => id)) {
    counts.requests += 1;
    counts.exchanges += request.exchanges.length;
    requests.add(requestCells(request));
    yield* requestFiles(request);
  }
  yield { path: 'requests.csv', bytes: requests.all() };

  for await (const anchor of rising(source.anchors, ({ seq }) => seq)) {
    counts.anchors += 1;
    yield { path: `anchors/${anchor.seq}.json`, bytes: anchor.bytes };
    if (anchor.timestamp) yield { path: `anchors/${anchor.seq}.tsr`, bytes: anchor.timestamp };
  }

  const changes = startCsv(WATCH_CHANGE_COLUMNS);
  for await (const change of source.watchChanges) {
    counts.watch_changes += 1;
    changes.add(watchChangeCells(change));
  }
  yield { path: 'watch-changes.csv', bytes: changes.all() };
  yield { path: 'summary.pdf', bytes: await summaryPdf(options, tally) };
  yield jsonFile('manifest.json', manifest(options, tally));
}
