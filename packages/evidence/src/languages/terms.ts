import type { DocumentLanguage, EvidenceGrade } from '@vat/domain';

/** What certificates and reports have in common in one language. */
export type Terms = {
  /** Marks a text that was cut. */
  cut: string;
  /** What an evidence grade means. The grade itself is a word of the API and is not translated. */
  grades: Record<EvidenceGrade, string>;
  /** A word with its explanation, `basic: …`. */
  explained: (word: string, text: string) => string;
  /** Between the parts of a list. */
  separator: string;
  /** The months as they are written in a date, from January. */
  months: readonly string[];
  /** `month`: one of `months`. */
  date: (day: number, month: string, year: string) => string;
  /** In figures where the order of day and month is not in doubt. `day` and `month` have two digits. */
  shortDate: (day: string, month: string, year: string, monthName: string) => string;
  decimal: '.' | ',';
};

const explained = (word: string, text: string): string => `${word}: ${text}`;
const months = (names: string): string[] => names.split(' ');

const en: Terms = {
  cut: '(cut)',
  grades: {
    none: 'the number is not valid',
    basic: 'VIES says valid; no source states name and address',
    named: 'VIES says valid, and a source states name and address',
    corroborated: 'a national register lists the trader as registered for VAT',
    qualified: 'the lookup has a proof of its own, and every detail given about the trader agrees',
  },
  explained,
  separator: '; ',
  months: months('January February March April May June July August September October November December'),
  date: (day, month, year) => `${day} ${month} ${year}`,
  shortDate: (day, _, year, month) => `${day} ${month.slice(0, 3)} ${year}`,
  decimal: '.',
};

const de: Terms = {
  cut: '(gekürzt)',
  grades: {
    none: 'die Nummer ist nicht gültig',
    basic: 'VIES bestätigt die Gültigkeit; keine Quelle nennt Namen und Anschrift',
    named: 'VIES bestätigt die Gültigkeit, und eine Quelle nennt Namen und Anschrift',
    corroborated: 'auch ein nationales Register führt das Unternehmen als umsatzsteuerlich registriert',
    qualified: 'die Abfrage hat einen eigenen Nachweis, und alle Angaben zum Unternehmen stimmen überein',
  },
  explained,
  separator: '; ',
  months: months('Januar Februar März April Mai Juni Juli August September Oktober November Dezember'),
  date: (day, month, year) => `${day}. ${month} ${year}`,
  shortDate: (day, month, year) => `${day}.${month}.${year}`,
  decimal: ',',
};

const fr: Terms = {
  cut: '(abrégé)',
  grades: {
    none: 'le numéro n’est pas valide',
    basic: 'VIES confirme la validité ; aucune source ne donne le nom et l’adresse',
    named: 'VIES confirme la validité et une source donne le nom et l’adresse',
    corroborated: 'un registre national indique aussi que l’assujetti est immatriculé à la TVA',
    qualified: 'la consultation a sa propre preuve et toutes les données fournies sur l’assujetti concordent',
  },
  explained: (word, text) => `${word} : ${text}`,
  separator: ' ; ',
  months: months('janvier février mars avril mai juin juillet août septembre octobre novembre décembre'),
  date: (day, month, year) => `${day === 1 ? '1er' : day} ${month} ${year}`,
  shortDate: (day, month, year) => `${day}/${month}/${year}`,
  decimal: ',',
};

const it: Terms = {
  cut: '(abbreviato)',
  grades: {
    none: 'il numero non è valido',
    basic: 'il VIES conferma la validità; nessuna fonte indica nome e indirizzo',
    named: 'il VIES conferma la validità e una fonte indica nome e indirizzo',
    corroborated: 'anche un registro nazionale indica il soggetto come registrato ai fini IVA',
    qualified: 'l’interrogazione ha una prova propria e tutti i dati forniti sul soggetto concordano',
  },
  explained,
  separator: '; ',
  months: months('gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre'),
  date: (day, month, year) => `${day === 1 ? '1º' : day} ${month} ${year}`,
  shortDate: (day, month, year) => `${day}/${month}/${year}`,
  decimal: ',',
};

const es: Terms = {
  cut: '(abreviado)',
  grades: {
    none: 'el número no es válido',
    basic: 'VIES confirma la validez; ninguna fuente indica nombre y dirección',
    named: 'VIES confirma la validez y una fuente indica nombre y dirección',
    corroborated: 'también un registro nacional indica que el operador está registrado a efectos del IVA',
    qualified: 'la consulta tiene su propia prueba y coinciden todos los datos facilitados sobre el operador',
  },
  explained,
  separator: '; ',
  months: months('enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre'),
  date: (day, month, year) => `${day} de ${month} de ${year}`,
  shortDate: (day, month, year) => `${day}/${month}/${year}`,
  decimal: ',',
};

const pl: Terms = {
  cut: '(skrócono)',
  grades: {
    none: 'numer nie jest aktywny',
    basic: 'VIES potwierdza aktywność numeru; żadne źródło nie podaje nazwy i adresu',
    named: 'VIES potwierdza aktywność numeru, a źródło podaje nazwę i adres',
    corroborated: 'także rejestr krajowy wskazuje podatnika jako zarejestrowanego do VAT',
    qualified: 'zapytanie ma własny dowód, a wszystkie podane dane podatnika są zgodne',
  },
  explained,
  separator: '; ',
  months: months('stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia'),
  date: (day, month, year) => `${day} ${month} ${year} r.`,
  shortDate: (day, month, year) => `${day}.${month}.${year}`,
  decimal: ',',
};

const nl: Terms = {
  cut: '(ingekort)',
  grades: {
    none: 'het nummer is niet geldig',
    basic: 'VIES bevestigt de geldigheid; geen bron noemt naam en adres',
    named: 'VIES bevestigt de geldigheid en een bron noemt naam en adres',
    corroborated: 'ook een nationaal register vermeldt de ondernemer als geregistreerd voor de btw',
    qualified: 'de raadpleging heeft een eigen bewijs en alle opgegeven gegevens van de ondernemer kloppen',
  },
  explained,
  separator: '; ',
  months: months('januari februari maart april mei juni juli augustus september oktober november december'),
  date: (day, month, year) => `${day} ${month} ${year}`,
  shortDate: (day, month, year) => `${day}-${month}-${year}`,
  decimal: ',',
};

export const TERMS: Record<DocumentLanguage, Terms> = { en, de, fr, it, es, pl, nl };

const PARTS = /^(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d:\d\d)\.(\d{3})Z$/;

/**
 * A time as a document shows it, always in UTC: `20 November 2026, 14:00:00.123 UTC`, and `short` for tables
 * `20.11.2026, 14:00:00 UTC`. Throws if it is not a time of the record (RFC 3339, UTC, milliseconds).
 */
export const formatTime = (
  at: Date | string,
  language: DocumentLanguage,
  length: 'long' | 'short' = 'long',
): string => {
  const text = typeof at === 'string' ? at : at.toISOString();
  const [, year, month, day, time, milliseconds] = PARTS.exec(text) ?? [];
  if (year === undefined || month === undefined || day === undefined) throw new Error(`not a time in UTC: ${text}`);
  const { months: names, date, shortDate, decimal } = TERMS[language];
  const name = names[Number(month) - 1] ?? month;
  return length === 'long'
    ? `${date(Number(day), name, year)}, ${time}${decimal}${milliseconds} UTC`
    : `${shortDate(day, month, year, name)}, ${time} UTC`;
};
