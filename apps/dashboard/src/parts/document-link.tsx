import type { DocumentLanguage } from '@vat/domain';
import { useState } from 'react';
import { DownloadLink } from './download.js';
import { Select } from './form.js';

/** The languages of documents, each by its own name. */
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

/** The first language of the browser that documents have, otherwise English. */
const preferredLanguage = (): DocumentLanguage =>
  navigator.languages.map((tag) => tag.slice(0, 2).toLowerCase()).find(isOffered) ?? 'en';

const OPTIONS = Object.entries(LANGUAGES).map(([value, label]) => ({ value: value as DocumentLanguage, label }));

type DocumentLinkProps = { path: string; document: 'certificate' | 'report'; children: string };

/** Downloads a document in the language that is chosen beside it. */
export const DocumentLink = ({ path, document, children }: DocumentLinkProps) => {
  const [language, setLanguage] = useState(preferredLanguage);
  return (
    <>
      <DownloadLink path={`${path}?lang=${language}`}>{children}</DownloadLink>
      <Select
        label={`Language of the ${document}`}
        value={language}
        options={OPTIONS}
        onChange={setLanguage}
        hideLabel
      />
    </>
  );
};
