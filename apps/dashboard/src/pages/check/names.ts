import type { CheckSource } from '@vat/domain';

/** The details of a trader as people call them. */
export const PART_NAMES = {
  name: 'Name',
  street: 'Street',
  postal_code: 'Postal code',
  city: 'City',
  company_type: 'Company type',
} as const;

/** The sources as people call them. */
export const SOURCE_NAMES: Record<CheckSource, string> = {
  syntax: 'Number format',
  vies: 'VIES',
  vies_confirmation: 'VIES, confirmation',
  pl_white_list: 'Poland, White list of VAT payers',
  cz_ares: 'Czechia, ARES',
  ro_anaf: 'Romania, ANAF',
  fr_recherche_entreprises: 'France, Recherche d’entreprises',
  fi_prh: 'Finland, PRH',
  de_evatr: 'Germany, eVatR',
  gleif: 'GLEIF',
};
