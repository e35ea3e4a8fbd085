import { publicId } from '@vat/domain';
import { openPage } from '../certificate/open-page.js';
import type { DossierOptions } from './dossier-source.js';
import type { DossierTally } from './tally.js';

const utc = (at: string): string => at.replace('T', ' ').replace('Z', ' UTC');

const period = ({ from, to }: DossierOptions['choice']): string => {
  if (!from && !to) return 'everything recorded until this dossier was made';
  const start = from ? `from ${utc(from.toISOString())}` : 'from the beginning';
  return `${start} ${to ? `until before ${utc(to.toISOString())}` : 'until this dossier was made'}`;
};

/** The cover of a dossier, one A4 page (PDF): account, period, counts, content, and how to verify it. */
export const summaryPdf = async (
  { account, createdAt, choice, coverage }: Pick<DossierOptions, 'account' | 'createdAt' | 'choice' | 'coverage'>,
  { counts, first, last }: DossierTally,
): Promise<Uint8Array> => {
  const accountId = publicId('account', account.id);
  const page = await openPage({ title: 'Dossier of VAT number checks', subject: accountId, at: createdAt });
  page.title('Dossier of VAT number checks', `Made ${utc(createdAt.toISOString())}`);
  page.section('Account and period');
  page.row('Account', account.name, { height: 48, face: 'bold' });
  page.row('Account id', accountId);
  page.row('Selected period', coverage ? null : period(choice));
  page.row('Checks that cover', coverage ? `${publicId('coverage', coverage.id)}, see coverage/report.pdf` : null);
  page.row('Only the number', choice.vatNumber);
  page.row('Only the reference', choice.reference, { height: 24 });
  page.row('First and last check', first && last ? `${utc(first)} and ${utc(last)}` : 'none');
  page.section('Checks');
  page.row('Checks', String(counts.checks), { face: 'bold' });
  page.row('valid', String(counts.valid));
  page.row('invalid', String(counts.invalid));
  page.row('malformed', String(counts.malformed));
  page.section('Evidence');
  page.row('Exchanges with sources', String(counts.exchanges));
  page.row('Checks in an anchor', `${counts.proofs}, in ${counts.anchors} anchor(s)`);
  page.row('Time-stamped checks', String(counts.timestamps));
  page.row('Requests without result', `${counts.requests} (included as proof of diligence)`);
  page.row('Changes of watches', String(counts.watch_changes));
  page.section('Content');
  for (const line of [
    'checks.csv lists the checks; checks/ contains each of them as the bytes that were hashed.',
    'exchanges/ contains every request to an outside source and its answer; requests/ those without a result.',
    'timestamps/, anchors/ and proofs.jsonl prove the time; watch-changes.csv lists the changes of monitored numbers.',
    'README.txt explains the other files, what is proved and what is not.',
  ])
    page.paragraph(line);
  page.section('How to verify');
  for (const line of [
    '1. Unpack the dossier into an empty folder.',
    '2. Run sh verify.sh there (needs python3 and openssl, no network). It ends with ALL HOLDS, or lists the problems.',
    '3. Compare the fingerprints that it prints with those that the time-stamping authorities publish.',
  ])
    page.paragraph(line);
  return page.close(
    'This page is a summary. The evidence is in the files that SHA256SUMS lists, and in its time-stamp.',
  );
};
