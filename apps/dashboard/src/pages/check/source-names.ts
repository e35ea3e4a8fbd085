import type { CheckSource } from '@vat/domain';

/** Who stands behind each source. */
export const SOURCE_NAMES: Record<CheckSource, string> = {
  syntax: 'Form of the number',
  vies: 'VIES',
  vies_confirmation: 'VIES, asked again to confirm',
  pl_white_list: 'Poland, White list of VAT payers',
  cz_ares: 'Czechia, ARES',
  ro_anaf: 'Romania, ANAF',
  fr_recherche_entreprises: 'France, Recherche d’entreprises',
  fi_prh: 'Finland, PRH',
  de_evatr: 'Germany, eVatR',
  gleif: 'GLEIF',
};
