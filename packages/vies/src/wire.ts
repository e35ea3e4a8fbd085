import { type LookupSubject, TRADER_FIELDS, type TraderField } from '@vat/domain';

/** VIES's field names for the parts of a trader in requests; answers use them with the suffix `Match`. */
export const TRADER_WIRE_NAMES = {
  name: 'traderName',
  street: 'traderStreet',
  postal_code: 'traderPostalCode',
  city: 'traderCity',
  company_type: 'traderCompanyType',
} as const satisfies Record<TraderField, string>;

/**
 * The body of `POST /check-vat-number`, UTF-8 JSON. Requester and trader keys are sent only when given, because VIES
 * validates empty ones.
 */
export const encodeLookup = ({ memberState, national, requester, trader }: LookupSubject): Uint8Array => {
  const body: Record<string, string> = { countryCode: memberState, vatNumber: national };
  if (requester) {
    body.requesterMemberStateCode = requester.memberState;
    body.requesterNumber = requester.national;
  }
  for (const field of TRADER_FIELDS) {
    const part = trader?.[field];
    if (part) body[TRADER_WIRE_NAMES[field]] = part;
  }
  return Buffer.from(JSON.stringify(body));
};

/** C0, U+007F and C1 except the newline. Lone surrogates have their own pattern, because they need the `u` flag. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern removes control characters
const CONTROLS = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/g;
const LONE_SURROGATES = /\p{Surrogate}/gu;

type CleanTextOptions = {
  /** The longest result, in UTF-16 code units. */
  limit: number;
  /** True keeps `\n` (addresses); false replaces each run of them with one space (names). */
  multiline: boolean;
};

/**
 * The displayable text of an upstream field, or null when the upstream disclosed nothing (`---`, blank, not a string).
 * Control characters and lone surrogates are removed, because the hashed body must be the same in jq and Python. The
 * text is not normalised.
 */
export const cleanText = (value: unknown, { limit, multiline }: CleanTextOptions): string | null => {
  if (typeof value !== 'string') return null;

  const lines = value.replace(CONTROLS, '').replace(LONE_SURROGATES, '');
  const whole = (multiline ? lines : lines.replace(/\n+/g, ' ')).trim();
  // The cut can split a surrogate pair; the remaining half is removed.
  const text = whole.length > limit ? whole.slice(0, limit).replace(LONE_SURROGATES, '').trim() : whole;
  return text === '' || text === '---' ? null : text;
};
