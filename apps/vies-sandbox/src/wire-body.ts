import { TRADER_FIELDS } from '@vat/domain';
import { TRADER_WIRE_NAMES } from '@vat/vies';
import type { WireAsk } from './wire-ask.js';

/** What VIES writes where a member state discloses nothing. */
const UNDISCLOSED = '---';

type Disclosed = { name?: string | undefined; address?: string | undefined; consultation?: string | undefined };

const disclosedByDefault = ({ memberState, national }: WireAsk) => ({
  // Germany discloses neither, Spain no names
  name: memberState === 'DE' || memberState === 'ES' ? UNDISCLOSED : `Sandbox Trader ${memberState}${national}`,
  address: memberState === 'DE' ? UNDISCLOSED : '1 Sandbox Street\n1000 Testville',
});

const matchWord = (part: string | undefined): string => {
  if (part === undefined) return 'NOT_PROCESSED';
  return /wrong/i.test(part) ? 'INVALID' : 'VALID'; // so that a test can have either
};

type WireVerdict = { ask: WireAsk; valid: boolean; now: Date; consultation: string; disclosed?: Disclosed };

/**
 * The object VIES answers with. `consultation` is given only to asks with a requester, else `""`. A trader's part is
 * VALID unless it contains "wrong". Source: spikes README, VIES.
 */
export const wireVerdict = ({
  ask,
  valid,
  now,
  consultation,
  disclosed = {},
}: WireVerdict): Record<string, unknown> => {
  const shown = valid ? disclosedByDefault(ask) : { name: UNDISCLOSED, address: UNDISCLOSED };
  const body: Record<string, unknown> = {
    countryCode: ask.memberState,
    vatNumber: ask.national,
    requestDate: now.toISOString(),
    valid,
    requestIdentifier: ask.requester === null ? '' : (disclosed.consultation ?? consultation),
    name: disclosed.name ?? shown.name,
    address: disclosed.address ?? shown.address,
  };
  for (const field of TRADER_FIELDS) body[TRADER_WIRE_NAMES[field]] = ask.trader?.[field] ?? UNDISCLOSED;
  for (const field of TRADER_FIELDS) body[`${TRADER_WIRE_NAMES[field]}Match`] = matchWord(ask.trader?.[field]);
  return body;
};

/** How VIES says that something went wrong, mostly under HTTP 200. */
export const wireError = (code: string): Record<string, unknown> => ({
  actionSucceed: false,
  errorWrappers: [{ error: code }],
});
