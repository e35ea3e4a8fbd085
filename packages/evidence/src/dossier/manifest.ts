import { HASH_PROFILE, publicId } from '@vat/domain';
import type { DossierOptions } from './dossier-source.js';
import type { DossierTally } from './tally.js';

/** What `manifest.json` says: whose dossier, made when, by which choice, and the counts that the verifier compares. */
export const manifest = (
  { account, createdAt, choice }: Pick<DossierOptions, 'account' | 'createdAt' | 'choice'>,
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
  },
  first_checked_at: first,
  last_checked_at: last,
  counts,
  hash_profile: HASH_PROFILE,
  tree: 'rfc9162-sha256',
});
