import { COMPANY_TYPE, isMemberState, type MemberState, TRADER_FIELDS, type Trader } from '@vat/domain';
import { TRADER_WIRE_NAMES } from '@vat/vies';

/** One question as it came over the wire. */
export type WireAsk = {
  memberState: MemberState;
  national: string;
  /** Member state and number in one, or null. */
  requester: string | null;
  trader: Trader | null;
};

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

const readTrader = (fields: Record<string, unknown>): Trader | null => {
  const trader: Trader = {};
  for (const field of TRADER_FIELDS) {
    const part = textOf(fields[TRADER_WIRE_NAMES[field]]);
    if (part !== null) trader[field] = part;
  }
  return Object.keys(trader).length > 0 ? trader : null;
};

/** VIES's own pattern of a national number. It knows nothing of the member states' rules, and blanks do not fit it. */
const NATIONAL = /^[0-9A-Za-z+*.]{1,12}$/;

type Requester = { state: string | null; number: string | null };

const refuseRequester = ({ state, number }: Requester): string | null => {
  if (state === null && number === null) return null;
  if (state === null || number === null) return 'VOW-ERR-11';
  if (!isMemberState(state)) return 'VOW-ERR-2500';
  return NATIONAL.test(number) ? null : 'VOW-ERR-2700';
};

/**
 * Reads an ask's body; otherwise the code VIES gives for it: VOW-ERR-11 for a missing field, among them one half of a
 * requester, VOW-ERR-2600, 2500 and 2700 for what its patterns refuse, INVALID_INPUT for no member state or an
 * unreadable company type.
 */
export const readWireAsk = (body: unknown): WireAsk | string => {
  if (typeof body !== 'object' || body === null) return 'VOW-ERR-11';
  const fields: Record<string, unknown> = { ...body };
  const country = textOf(fields.countryCode)?.toUpperCase();
  const national = textOf(fields.vatNumber);
  if (!country || national === null) return 'VOW-ERR-11';
  if (!isMemberState(country)) return 'INVALID_INPUT';

  const state = textOf(fields.requesterMemberStateCode);
  const number = textOf(fields.requesterNumber);
  const refused = NATIONAL.test(national) ? refuseRequester({ state, number }) : 'VOW-ERR-2600';
  if (refused !== null) return refused;
  const trader = readTrader(fields);
  // VIES does not say which field it means.
  if (trader?.company_type !== undefined && !COMPANY_TYPE.test(trader.company_type)) return 'INVALID_INPUT';
  const requester = state !== null && number !== null ? state + number : null;
  return { memberState: country, national, requester, trader };
};
