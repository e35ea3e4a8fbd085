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
export const encodeAsk = ({ memberState, national, requester, trader }: Ask): Uint8Array => {
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
