import type { CheckSource, DocumentLanguage } from '@vat/domain';
import type { CertificateTexts } from './certificate-texts.js';
import { de } from './de.js';
import { en } from './en.js';
import { es } from './es.js';
import { fr } from './fr.js';
import { it } from './it.js';
import { nl } from './nl.js';
import { pl } from './pl.js';

export type { CertificateTexts } from './certificate-texts.js';

export const CERTIFICATE_TEXTS: Record<DocumentLanguage, CertificateTexts> = { en, de, fr, it, es, pl, nl };

/** The names of sources that are the same in every language. */
export const SOURCE_NAMES: Omit<Record<CheckSource, string>, keyof CertificateTexts['sourceNames']> = {
  vies: 'VIES',
  pl_white_list: 'Wykaz podatników VAT (PL)',
  cz_ares: 'ARES (CZ)',
  ro_anaf: 'ANAF (RO)',
  fr_recherche_entreprises: 'Recherche d’entreprises (FR)',
  fi_prh: 'PRH (FI)',
  de_evatr: 'BZSt eVatR (DE)',
  gleif: 'GLEIF',
};
