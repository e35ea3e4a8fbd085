import { COUNTRIES, cleanVatText, readCountryCode, TERRITORIES } from '@vat/domain/vat-syntax';
import { foldName, isBlank, transcribeUmlauts } from './cells.js';

/** The maximum length of a cell with a country code: two letters and surrounding characters. */
const MAX_COUNTRY_CODE = 12;

/** Whether a cell contains a two-letter country code, in upper or lower case, of any country. */
export const isCountryCode = (cell: string): boolean => {
  if (cell.length > MAX_COUNTRY_CODE) return false;
  const code = cleanVatText(cell);
  return code.length === 2 && readCountryCode(code) !== null;
};

const LANGUAGES = 'bg cs da de el en es et fi fr ga hr hu it lt lv mt nl pl pt ro sk sl sv'.split(' ');

/** Common names that are not in the lists of official names. */
const EVERYDAY: Readonly<Record<string, readonly string[]>> = {
  DE: ['Bundesrepublik Deutschland', 'Federal Republic of Germany'],
  CZ: ['Czech Republic', 'Tschechische Republik', 'République tchèque', 'Česká republika', 'Repubblica Ceca', 'Czechy'],
  GB: [
    'Great Britain',
    'Großbritannien',
    'Grande-Bretagne',
    'Gran Bretagna',
    'Gran Bretaña',
    'Grã-Bretanha',
    'Wielka Brytania',
  ],
  EL: ['Hellas', 'Ellada', 'Hellenic Republic'],
  IE: ['Republic of Ireland', 'Eire', 'Irish Republic'],
  NL: ['Holland', 'The Netherlands'],
  SK: ['Slovak Republic', 'Slowakische Republik', 'Slovenská republika', 'République slovaque'],
  XI: ['Northern Ireland', 'Nordirland', 'Irlande du Nord', 'Irlanda del Nord', 'Irlanda del Norte'],
};

/** The codes of one and three letters that accounting programs use: signs of vehicles, and ISO 3166-1 alpha-3. */
const OTHER_CODES =
  'A AT,AUT AT,B BE,BEL BE,BGR BG,CYP CY,CZE CZ,D DE,DEU DE,GER DE,DNK DK,EST EE,GRC EL,E ES,ESP ES,FIN FI,F FR,FRA FR,' +
  'GBR GB,HRV HR,H HU,HUN HU,IRL IE,I IT,ITA IT,LTU LT,L LU,LUX LU,LVA LV,M MT,MLT MT,NLD NL,POL PL,P PT,PRT PT,ROU RO,' +
  'S SE,SWE SE,SLO SI,SVN SI,SVK SK';

/**
 * The member states, and the territories that share their numbers, by their folded names. The JavaScript engine provides the
 * names, about 700 of them.
 */
const nameCountries = (): ReadonlyMap<string, string> => {
  const names = new Map<string, string>();
  const add = (name: string, code: string): void => {
    for (const text of [name, transcribeUmlauts(name)]) names.set(foldName(text), code);
  };
  for (const language of LANGUAGES) {
    const regions = new Intl.DisplayNames([language], { type: 'region' });
    for (const code of [...Object.keys(COUNTRIES), ...TERRITORIES]) {
      const name = regions.of(code === 'EL' ? 'GR' : code);
      if (name !== undefined) add(name, code);
    }
  }
  for (const pair of OTHER_CODES.split(',')) {
    const [other = '', code = ''] = pair.split(' ');
    add(other, code);
  }
  for (const [code, everyday] of Object.entries(EVERYDAY)) {
    for (const name of everyday) add(name, code);
  }
  return names;
};

/** Returns the code of the country whose name a cell contains; null for a code and for anything else. */
export type CountryReader = (text: string) => string | null;

const PART_ENDS = /[()[\]/|:]| [-–—] /;

/** Longer texts are not a country's name. */
const MAX_COUNTRY_NAME = 60;

/**
 * Creates a reader of country names such as `Deutschland` and `Česko`. The table of names is built at the first cell that
 * is not a code.
 */
export const createCountryReader = (): CountryReader => {
  let names: ReadonlyMap<string, string> | undefined;
  return (text) => {
    if (text === '' || text.length > MAX_COUNTRY_NAME || isCountryCode(text)) return null;
    names ??= nameCountries();
    const byName = names;
    const readPart = (part: string): string | null | undefined => {
      if (isBlank(part)) return undefined;
      return isCountryCode(part) ? readCountryCode(cleanVatText(part)) : (byName.get(foldName(part)) ?? null);
    };
    const whole = byName.get(foldName(text));
    if (whole !== undefined) return whole;
    // `DE - Deutschland`, `Niederlande (NL)`: a code and the name of the same country.
    const parts = new Set(text.split(PART_ENDS).map(readPart));
    parts.delete(undefined);
    const [code] = parts;
    return parts.size === 1 ? (code ?? null) : null;
  };
};
