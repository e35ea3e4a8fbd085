import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { type CheckBody, HASH_PROFILE, publicId } from '@vat/domain';
import { csvRow } from '@vat/spreadsheet';
import { readVerifier } from '../verify/read-verifier.js';
import {
  CHECKS_TABLE,
  type CsvTable,
  checkFiles,
  proofLine,
  REQUESTS_TABLE,
  requestFiles,
  WATCH_CHANGES_TABLE,
} from './check-files.js';
import { type DossierFile, jsonFile, textFile } from './dossier-file.js';
import type { DossierOptions, DossierSource } from './dossier-source.js';
import { summaryPdf } from './summary-pdf.js';
import { type DossierTally, emptyTally, sortCertificates, tallyCheck } from './tally.js';
import { coalesceBytes, zipFiles } from './zip-files.js';

/** The content of `manifest.json`: account, time, selection, and the counts that the verifier compares. */
export const manifest = (
  { account, createdAt, choice, coverage }: Pick<DossierOptions, 'account' | 'createdAt' | 'choice' | 'coverage'>,
  { counts, first, last }: DossierTally,
) => ({
  format: 'vat-evidence-dossier',
  version: 1,
  created_at: createdAt.toISOString(),
  account: { id: publicId('account', account.id), name: account.name },
  choice: {
    from: choice.from?.toISOString() ?? null,
    to: choice.to?.toISOString() ?? null,
    vat_number: choice.vatNumber,
    reference: choice.reference,
    ...(coverage && { coverage_id: publicId('coverage', coverage.id) }),
  },
  first_checked_at: first,
  last_checked_at: last,
  counts,
  hash_profile: HASH_PROFILE,
  tree: 'rfc9162-sha256',
});

/** Without this mark Excel reads a file in the code page of its country and garbles names. */
const BYTE_ORDER_MARK = '\ufeff';

const startCsv = <Row extends readonly unknown[]>(table: CsvTable<Row>) => {
  const rows = coalesceBytes();
  const cells = Object.values(table);
  rows.add(`${BYTE_ORDER_MARK}${csvRow(Object.keys(table))}`);
  return { add: (...row: Row) => rows.add(csvRow(cells.map((cellOf) => cellOf(...row)))), take: rows.take };
};

/** Checks that keys ascend. Throws if a key does not, because the same file could then be written twice. */
const startOrder = <Key extends string | number>() => {
  let last: Key | null = null;
  return (key: Key): void => {
    if (last !== null && key <= last) throw new Error(`the source of a dossier returned ${key} after ${last}`);
    last = key;
  };
};

/** Anchors in one file of links: about a megabyte. */
const LINKS_PER_FILE = 4_000;

/** `anchors/links-<seq>.jsonl`: one anchor per line, from that `seq` on. */
async function* linkFiles(links: DossierSource['links']): AsyncGenerator<DossierFile, void, undefined> {
  const lines = coalesceBytes();
  const order = startOrder<number>();
  let count = 0;
  let first = 0;
  for await (const { seq, body } of links) {
    order(seq);
    if (count === 0) first = seq;
    lines.add(`${Buffer.from(body)}\n`);
    count += 1;
    if (count === LINKS_PER_FILE) {
      yield { path: `anchors/links-${first}.jsonl`, bytes: lines.take() };
      count = 0;
    }
  }
  if (count > 0) yield { path: `anchors/links-${first}.jsonl`, bytes: lines.take() };
}

/**
 * Every file of a dossier except SHA256SUMS and its time-stamp, in a fixed order: README and programs, checks with their
 * files, requests without a check, anchors, certificates, and the tables and counts, which are known only at the end.
 */
async function* dossierFiles(
  source: DossierSource,
  options: Omit<DossierOptions, 'stamp'>,
): AsyncGenerator<DossierFile, void, undefined> {
  const tally = emptyTally();
  const { counts } = tally;
  yield* await readVerifier();

  const checks = startCsv(CHECKS_TABLE);
  const proofs = coalesceBytes();
  const orderOfChecks = startOrder<string>();
  for await (const check of source.checks) {
    const body = JSON.parse(Buffer.from(check.bytes).toString('utf8')) as CheckBody;
    orderOfChecks(body.id);
    tallyCheck(tally, check, body);
    checks.add(check, body);
    proofs.add(proofLine(body.id, check));
    yield* checkFiles(body.id, check);
  }
  yield { path: 'proofs.jsonl', bytes: proofs.take() };
  yield { path: 'checks.csv', bytes: checks.take() };

  const requests = startCsv(REQUESTS_TABLE);
  const orderOfRequests = startOrder<string>();
  for await (const request of source.requests) {
    orderOfRequests(request.id);
    counts.requests += 1;
    counts.exchanges += request.exchanges.length;
    requests.add(request);
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
  yield* linkFiles(source.links);
  const { roots, intermediates } = sortCertificates(await options.certificates());
  yield textFile('certs/tsa-roots.pem', roots.join(''));
  yield textFile('certs/tsa-intermediates.pem', intermediates.join(''));

  const changes = startCsv(WATCH_CHANGES_TABLE);
  for await (const change of source.watchChanges) {
    counts.watch_changes += 1;
    changes.add(change);
  }
  yield { path: 'watch-changes.csv', bytes: changes.take() };
  if (options.coverage) yield* options.coverage.files();
  yield { path: 'summary.pdf', bytes: await summaryPdf(options, tally) };
  yield jsonFile('manifest.json', manifest(options, tally));
}

/**
 * Passes the files on, followed by `SHA256SUMS` over all of them and, if `stamp` returns one, the time-stamp of that list.
 */
async function* sealFiles(
  files: AsyncIterable<DossierFile>,
  stamp: (bytes: Uint8Array) => Promise<Uint8Array | null>,
): AsyncGenerator<DossierFile, void, undefined> {
  const sums = coalesceBytes();
  for await (const file of files) {
    sums.add(`${hash('sha256', file.bytes, 'hex')}  ${file.path}\n`);
    yield file;
  }
  const bytes = sums.take();
  yield { path: 'SHA256SUMS', bytes };
  const token = await stamp(bytes);
  if (token) yield { path: 'SHA256SUMS.tsr', bytes: token };
}

/**
 * Streams a dossier as a zip. Memory is bounded by one check, the tables, and the list of files. Equal sources and options
 * give equal bytes, except for the time-stamp. Destroying the stream ends the sources. If a source or `stamp` throws, the
 * stream is destroyed with that error, and the bytes sent so far are not a valid zip. `assets/README.txt` explains the layout.
 */
export const writeDossier = (source: DossierSource, options: DossierOptions): Readable =>
  Readable.from(zipFiles(sealFiles(dossierFiles(source, options), options.stamp), options.createdAt), {
    objectMode: false,
  });
