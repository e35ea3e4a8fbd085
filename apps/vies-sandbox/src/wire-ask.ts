import { isMemberState, type MemberState, TRADER_FIELDS, type Trader } from '@vat/domain';
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

/** Reads an ask's body; otherwise the code VIES gives for it: VOW-ERR-11 for missing fields, INVALID_INPUT for no member state. */
export const readWireAsk = (body: unknown): WireAsk | 'VOW-ERR-11' | 'INVALID_INPUT' => {
  if (typeof body !== 'object' || body === null) return 'VOW-ERR-11';
  const fields: Record<string, unknown> = { ...body };
  const country = textOf(fields.countryCode)?.toUpperCase();
  const national = textOf(fields.vatNumber);
  if (!country || national === null) return 'VOW-ERR-11';
  if (!isMemberState(country)) return 'INVALID_INPUT';

  const requesterState = textOf(fields.requesterMemberStateCode);
  const requesterNumber = textOf(fields.requesterNumber);
  const requester = requesterState !== null && requesterNumber !== null ? requesterState + requesterNumber : null;
  return { memberState: country, national, requester, trader: readTrader(fields) };
};
