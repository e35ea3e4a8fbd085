import type { DocumentLanguage } from '@vat/domain';
import { useState } from 'react';
import { addressOf } from '../../api/create-api.js';
import { Select } from '../../parts/form.js';

/** The languages of certificates, each by its own name. */
const LANGUAGES: Record<DocumentLanguage, string> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  it: 'Italiano',
  es: 'Español',
  pl: 'Polski',
  nl: 'Nederlands',
};

const isOffered = (language: string): language is DocumentLanguage => Object.hasOwn(LANGUAGES, language);

/** The first language of the browser that certificates have, otherwise English. */
const preferredLanguage = (): DocumentLanguage =>
  navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase()).find(isOffered) ?? 'en';

const OPTIONS = Object.entries(LANGUAGES).map(([value, label]) => ({ value: value as DocumentLanguage, label }));

/** Downloads the certificate of a check in the language that is chosen beside it. */
export const CertificateLink = ({ checkId }: { checkId: string }) => {
  const [language, setLanguage] = useState(preferredLanguage);
  const href = addressOf(`/checks/${checkId}/certificate.pdf?lang=${language}`);
  return (
    <>
      <a className="button" href={href} download={`${checkId}.pdf`}>
        Certificate (PDF)
      </a>
      <Select label="Language of the certificate" value={language} options={OPTIONS} onChange={setLanguage} hideLabel />
    </>
  );
};
