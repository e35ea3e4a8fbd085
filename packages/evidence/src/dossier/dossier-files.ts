import type { CheckBody } from '@vat/domain';
import { readVerifier } from '../verify/read-verifier.js';
import { CHECK_COLUMNS, checkCells, checkFiles, proofLine } from './check-files.js';
import { csvRow } from './csv-row.js';
import { type DossierFile, jsonFile, textFile } from './dossier-file.js';
import type { DossierOptions, DossierSource } from './dossier-source.js';
import { manifest } from './manifest.js';
import { REQUEST_COLUMNS, requestCells, requestFiles } from './request-files.js';
import { summaryPdf } from './summary-pdf.js';
import { emptyTally, tallyCheck } from './tally.js';
import { WATCH_CHANGE_COLUMNS, watchChangeCells } from './watch-change-cells.js';

/** Excel takes a file without this mark for one in the code page of its country, and garbles names. */
const BYTE_ORDER_MARK = '\ufeff';

/** Rows as they come, kept as text: 10 000 checks are a few megabytes. */
const startCsv = (columns: readonly string[]) => {
  const rows = [BYTE_ORDER_MARK, csvRow(columns)];
  return { add: (cells: readonly string[]) => rows.push(csvRow(cells)), text: () => rows.join('') };
};

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
  const proofs: string[] = [];
  for await (const check of source.checks) {
    const body = JSON.parse(Buffer.from(check.bytes).toString('utf8')) as CheckBody;
    tallyCheck(tally, check, body);
    checks.add(checkCells(check, body));
    proofs.push(proofLine(check));
    yield* checkFiles(check);
  }
  yield textFile('proofs.jsonl', proofs.join(''));
  yield textFile('checks.csv', checks.text());

  const requests = startCsv(REQUEST_COLUMNS);
  for await (const request of source.requests) {
    counts.requests += 1;
    counts.exchanges += request.exchanges.length;
    requests.add(requestCells(request));
    yield* requestFiles(request);
  }
  yield textFile('requests.csv', requests.text());

  for await (const anchor of source.anchors) {
    counts.anchors += 1;
    yield { path: `anchors/${anchor.seq}.json`, bytes: anchor.bytes };
    if (anchor.timestamp) yield { path: `anchors/${anchor.seq}.tsr`, bytes: anchor.timestamp };
  }

  const changes = startCsv(WATCH_CHANGE_COLUMNS);
  for await (const change of source.watchChanges) {
    counts.watch_changes += 1;
    changes.add(watchChangeCells(change));
  }
  yield textFile('watch-changes.csv', changes.text());
  yield { path: 'summary.pdf', bytes: await summaryPdf(options, tally) };
  yield jsonFile('manifest.json', manifest(options, tally));
}
