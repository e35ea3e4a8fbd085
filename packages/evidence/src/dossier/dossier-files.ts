import type { CheckBody } from '@vat/domain';
import { csvRow } from '@vat/spreadsheet';
import { readVerifier } from '../verify/read-verifier.js';
import { CHECK_COLUMNS, checkCells, checkFiles, proofLine } from './check-files.js';
import { type DossierFile, jsonFile, textFile } from './dossier-file.js';
import type { DossierOptions, DossierSource } from './dossier-source.js';
import { gatherBytes } from './gather-bytes.js';
import { manifest } from './manifest.js';
import { REQUEST_COLUMNS, requestCells, requestFiles } from './request-files.js';
import { sortCertificates } from './sort-certificates.js';
import { summaryPdf } from './summary-pdf.js';
import { emptyTally, tallyCheck } from './tally.js';
import { WATCH_CHANGE_COLUMNS, watchChangeCells } from './watch-change-cells.js';

/** Excel takes a file without this mark for one in the code page of its country, and garbles names. */
const BYTE_ORDER_MARK = '\ufeff';

const startCsv = (columns: readonly string[]) => {
  const rows = gatherBytes();
  rows.add(`${BYTE_ORDER_MARK}${csvRow(columns)}`);
  return { add: (cells: readonly string[]) => rows.add(csvRow(cells)), take: rows.take };
};

/** Judges keys one by one. Throws when one is not above the one before: the same file would be there twice. */
const startOrder = <Key extends string | number>() => {
  let last: Key | null = null;
  return (key: Key): void => {
    if (last !== null && key <= last) throw new Error(`a dossier's source gives ${key} after ${last}`);
    last = key;
  };
};

/**
 * Every file of a dossier but the seal, in a fixed order: explanations, checks with what belongs to each, requests
 * that came to nothing, anchors, the certificates of all their stamps, and the tables and counts, which are known only at the end.
 */
export async function* dossierFiles(
  source: DossierSource,
  options: Omit<DossierOptions, 'stamp'>,
): AsyncGenerator<DossierFile, void, undefined> {
  const tally = emptyTally();
  const { counts } = tally;
  yield* await readVerifier();

  const checks = startCsv(CHECK_COLUMNS);
  const proofs = gatherBytes();
  const orderOfChecks = startOrder<string>();
  for await (const check of source.checks) {
    const body = JSON.parse(Buffer.from(check.bytes).toString('utf8')) as CheckBody;
    orderOfChecks(body.id);
    tallyCheck(tally, check, body);
    checks.add(checkCells(check, body));
    proofs.add(proofLine(body.id, check));
    yield* checkFiles(body.id, check);
  }
  yield { path: 'proofs.jsonl', bytes: proofs.take() };
  yield { path: 'checks.csv', bytes: checks.take() };

  const requests = startCsv(REQUEST_COLUMNS);
  const orderOfRequests = startOrder<string>();
  for await (const request of source.requests) {
    orderOfRequests(request.id);
    counts.requests += 1;
    counts.exchanges += request.exchanges.length;
    requests.add(requestCells(request));
    yield* requestFiles(request);
  }
  yield { path: 'requests.csv', bytes: requests.take() };

  const orderOfAnchors = startOrder<number>();
  for await (const { seq, body, token } of source.anchors) {
    orderOfAnchors(seq);
    counts.anchors += 1;
    yield { path: `anchors/${seq}.json`, bytes: body };
    if (token) yield { path: `anchors/${seq}.tsr`, bytes: token };
  }
  const { roots, intermediates } = sortCertificates(await options.certificates());
  yield textFile('certs/tsa-roots.pem', roots.join(''));
  yield textFile('certs/tsa-intermediates.pem', intermediates.join(''));

  const changes = startCsv(WATCH_CHANGE_COLUMNS);
  for await (const change of source.watchChanges) {
    counts.watch_changes += 1;
    changes.add(watchChangeCells(change));
  }
  yield { path: 'watch-changes.csv', bytes: changes.take() };
  yield { path: 'summary.pdf', bytes: await summaryPdf(options, tally) };
  yield jsonFile('manifest.json', manifest(options, tally));
}
