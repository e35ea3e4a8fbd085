import { COUNTRIES } from '@vat/domain/vat-syntax';
import { foldName } from './fold-name.js';
import { isCountryCode } from './is-country-code.js';

/** The official languages of the Union. */
const LANGUAGES = 'bg cs da de el en es et fi fr ga hr hu it lt lv mt nl pl pt ro sk sl sv'.split(' ');

/** What people write and no list of official names has. */
const EVERYDAY: Readonly<Record<string, readonly string[]>> = {
  CZ: ['Czech Republic', 'Tschechische Republik', 'République tchèque', 'Česká republika', 'Repubblica Ceca', 'Czechy'],
  EL: ['Hellas', 'Ellada', 'Hellenic Republic'],
  IE: ['Republic of Ireland', 'Eire', 'Irish Republic'],
  NL: ['Holland', 'The Netherlands'],
  SK: ['Slovak Republic', 'Slowakische Republik', 'Slovenská republika', 'République slovaque'],
  XI: ['Northern Ireland', 'Nordirland', 'Irlande du Nord', 'Irlanda del Nord', 'Irlanda del Norte'],
};

/** Member states by their folded names. The names are those of the running engine, about 600 of them. */
const nameMemberStates = (): ReadonlyMap<string, string> => {
  const names = new Map<string, string>();
  for (const language of LANGUAGES) {
    const regions = new Intl.DisplayNames([language], { type: 'region' });
    for (const code of Object.keys(COUNTRIES)) {
      const name = regions.of(code === 'EL' ? 'GR' : code);
      if (name !== undefined) names.set(foldName(name), code);
    }
  }
  for (const [code, everyday] of Object.entries(EVERYDAY)) {
    for (const name of everyday) names.set(foldName(name), code);
  }
  return names;
};

/** The code of the member state whose name a cell holds; null for a code, and for anything else. */
export type CountryReader = (text: string) => string | null;

/** Longer than any country's name. */
const LONGEST = 60;

/**
 * A reader of country cells, for `Deutschland` and `Česko`. The names are put together when the first cell is met that is
 * not a code.
 */
export const createCountryReader = (): CountryReader => {
  let names: ReadonlyMap<string, string> | undefined;
  return (text) => {
    if (text === '' || text.length > LONGEST || isCountryCode(text)) return null;
    names ??= nameMemberStates();
    return names.get(foldName(text)) ?? null;
  };
};
