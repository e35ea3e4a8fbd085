/** The languages of certificates and reports. */
export const DOCUMENT_LANGUAGES = ['en', 'de', 'fr', 'it', 'es', 'pl', 'nl'] as const;
export type DocumentLanguage = (typeof DOCUMENT_LANGUAGES)[number];
