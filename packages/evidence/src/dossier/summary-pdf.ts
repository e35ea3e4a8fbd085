import { publicId } from '@vat/domain';
import { openPage } from '../certificate/open-page.js';
import type { DossierOptions } from './dossier-source.js';
import type { DossierTally } from './tally.js';

const utc = (at: string): string => at.replace('T', ' ').replace('Z', ' UTC');

const period = ({ from, to }: DossierOptions['choice']): string => {
  if (!from && !to) return 'everything that was recorded until this dossier was made';
  const start = from ? `from ${utc(from.toISOString())}` : 'from the beginning';
  return `${start} ${to ? `until before ${utc(to.toISOString())}` : 'until this dossier was made'}`;
};

/** The cover of a dossier, one A4 page (PDF): whose it is, of which period, what it counts and holds, how to verify it. */
export const summaryPdf = async (
  { account, createdAt, choice }: Pick<DossierOptions, 'account' | 'createdAt' | 'choice'>,
  { counts, first, last }: DossierTally,
): Promise<Uint8Array> => {
  const accountId = publicId('account', account.id);
  const page = await openPage({ title: 'Dossier of VAT number checks', subject: accountId, at: createdAt });
  page.title('Dossier of VAT number checks', `Made ${utc(createdAt.toISOString())}`);
  page.section('Whose, and which');
  page.row('Account', account.name, { height: 48, face: 'bold' });
  page.row('Account id', accountId);
  page.row('Period chosen', period(choice));
  page.row('Only the number', choice.vatNumber);
  page.row('Only the reference', choice.reference, { height: 24 });
  page.row('First and last check', first && last ? `${utc(first)} and ${utc(last)}` : 'there is none');
  page.section('Checks');
  page.row('Checks', String(counts.checks), { face: 'bold' });
  page.row('valid', String(counts.valid));
  page.row('invalid', String(counts.invalid));
  page.row('malformed', String(counts.malformed));
  page.section('Evidence');
  page.row('Exchanges, byte for byte', String(counts.exchanges));
  page.row('Checks in an anchor', `${counts.proofs}, in ${counts.anchors} anchor(s)`);
  page.row('Checks with own stamp', String(counts.timestamps));
  page.row('Requests unanswered', `${counts.requests} (kept because trying shows diligence)`);
  page.row('Changes of watches', String(counts.watch_changes));
  page.section('What is in it');
  for (const line of [
    'checks.csv lists the checks; checks/ holds each of them as the bytes that were hashed.',
    'exchanges/ holds every request to an outside source and its answer; requests/ those that came to nothing.',
    'timestamps/, anchors/ and proofs.jsonl prove when; watch-changes.csv says what changed about watched numbers.',
    'README.txt explains the rest, and what is proved and what is not.',
  ])
    page.paragraph(line);
  page.section('How to verify');
  for (const line of [
    '1. Unpack the dossier into an empty folder.',
    '2. Run sh verify.sh there (python3 and openssl are needed, a network is not). It ends with ALL HOLDS, or says what does not.',
    '3. Compare the fingerprints of the authorities that it prints with what those authorities publish.',
  ])
    page.paragraph(line);
  return page.close(
    'This page is a summary. The evidence is in the files that SHA256SUMS lists, and in its time-stamp.',
  );
};
