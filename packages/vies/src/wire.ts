import { type Ask, TRADER_FIELDS, type TraderField } from '@vat/domain';

/** How VIES spells the parts of a trader, in requests and (with `Match` behind) in answers. */
export const TRADER_WIRE_NAMES = {
  name: 'traderName',
  street: 'traderStreet',
  postal_code: 'traderPostalCode',
  city: 'traderCity',
  company_type: 'traderCompanyType',
} as const satisfies Record<TraderField, string>;

/** The body of `POST /check-vat-number`, UTF-8 JSON. Requester and trader keys appear only when given: VIES judges empty ones. */
export const encodeLookup = ({ memberState, national, requester, trader }: Ask): Uint8Array => {
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

/** C0, U+007F and C1 but the newline. Lone surrogates are matched apart: they need the `u` flag. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const CONTROLS = /[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/g;
const LONE_SURROGATES = /\p{Surrogate}/gu;

type CleanTextOptions = {
  /** Longest text kept, in UTF-16 code units. */
  limit: number;
  /** True keeps `\n` as it is (addresses); false turns a run of them into one space (names). */
  multiline: boolean;
};

/**
 * What a person may read of an upstream text field, or null where the upstream disclosed nothing (`---`, blank, not a
 * string). Control characters and lone surrogates go, because the hashed body must come out alike in jq and Python;
 * nothing is normalised. Source: contract part 2 §4.
 */
export const cleanText = (value: unknown, { limit, multiline }: CleanTextOptions): string | null => {
  if (typeof value !== 'string') return null;

  const lines = value.replace(CONTROLS, '').replace(LONE_SURROGATES, '');
  const whole = (multiline ? lines : lines.replace(/\n+/g, ' ')).trim();
  // the cut can part a surrogate pair: its half goes too
  const text = whole.length > limit ? whole.slice(0, limit).replace(LONE_SURROGATES, '').trim() : whole;
  return text === '' || text === '---' ? null : text;
};
