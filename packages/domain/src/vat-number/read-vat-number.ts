import type { MemberState } from '../member-states.js';
import { cleanVatText } from './clean-vat-text.js';
import { COUNTRIES } from './countries.js';
import { type CountryPlace, resolveCountry } from './country.js';
import { type Checksum, evaluateChecksum } from './evaluate-checksum.js';
import { fitNational } from './fit-national.js';

/**
 * The result of reading a text as a VAT number.
 *
 * - `well_formed`: fits its country's syntax. `national` is what is looked up at VIES (2 to 12 of `A-Z0-9+*`), `vatNumber`
 *   is `memberState + national`. The checksum is a note, the upstream decides.
 * - `malformed`: a covered country, but not its syntax. `reason` is a sentence naming the country's form. `vatNumber` is
 *   at most 40 characters long; every character outside `A-Z0-9+*` is shown as `?`, because omitting it could turn the
 *   number into another, well-formed one.
 * - `unresolvable`: the country is unknown or not covered. `field` is the field to correct, `reason` a sentence that states how.
 */
export type ReadVatNumber =
  | { kind: 'well_formed'; memberState: MemberState; national: string; vatNumber: string; checksum: Checksum }
  | { kind: 'malformed'; memberState: MemberState; national: string; vatNumber: string; reason: string }
  | { kind: 'unresolvable'; field: 'vat_number' | 'country_code'; reason: string };

/** Of `vatNumber`, prefix included. NFKC can expand compatibility characters to many times the input. */
const MAX_VAT_NUMBER_LENGTH = 40;

/**
 * Normalises a VAT number as people write it and checks it against its country's syntax. `input` is with or without
 * its prefix; `countryCode` is needed when it is without, in any case, GR and EL alike; `place` is where it is given. Reading a `vatNumber` again gives
 * the same result. Never throws. {@link resolveCountry} states the rules between prefix and `countryCode`.
 */
export const readVatNumber = (input: string, countryCode?: string, place?: CountryPlace): ReadVatNumber => {
  const resolved = resolveCountry(cleanVatText(input), countryCode, place);
  if (resolved.kind === 'unresolvable') return resolved;

  const { memberState, rest } = resolved;
  const national = fitNational(memberState, rest);
  if (national !== null) {
    const checksum = evaluateChecksum(memberState, national);
    return { kind: 'well_formed', memberState, national, vatNumber: memberState + national, checksum };
  }

  const shown = rest.replace(/[^A-Z0-9+*]/gu, '?').slice(0, MAX_VAT_NUMBER_LENGTH - memberState.length);
  const reason = COUNTRIES[memberState].form;
  return { kind: 'malformed', memberState, national: shown, vatNumber: memberState + shown, reason };
};
