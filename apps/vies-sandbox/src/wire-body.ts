import { type MemberState, TRADER_FIELDS } from '@vat/domain';
import { TRADER_WIRE_NAMES } from '@vat/vies';
import type { WireAsk } from './wire-ask.js';

/** What VIES writes where a member state discloses nothing. */
const UNDISCLOSED = '---';

/** Germany and Spain answer `---` for both name and address. */
const DISCLOSE_NOTHING: ReadonlySet<MemberState> = new Set(['DE', 'ES']);

type Disclosed = { name?: string | undefined; address?: string | undefined; consultation?: string | undefined };

const disclosedByDefault = ({ memberState, national }: WireAsk) => ({
  name: DISCLOSE_NOTHING.has(memberState) ? UNDISCLOSED : `Sandbox Trader ${memberState}${national}`,
  address: DISCLOSE_NOTHING.has(memberState) ? UNDISCLOSED : '1 Sandbox Street\n1000 Testville',
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

/** VIES's explanations of its codes, where it gives one. */
const MESSAGES: Readonly<Record<string, string>> = {
  INVALID_INPUT: 'Some data are invalid in the request',
  'VOW-ERR-1': 'An unexpected error occurred. Please retry later or contact the support team.',
  'VOW-ERR-11': 'A mandatory field is missing',
  'VOW-ERR-2500': 'The requester member state code is invalid.',
  'VOW-ERR-2600': 'The VAT number does not match the following regular expression : "{0}".',
  'VOW-ERR-2700': 'The requester VAT number does not match the following regular expression : "{0}".',
};

/** How VIES says that something went wrong: the shape of its REST service, with its explanation when asked for. */
export const wireError = (code: string, message?: string): Record<string, unknown> => ({
  actionSucceed: false,
  errorWrappers: [{ error: code, ...(message === undefined ? {} : { message }) }],
});

/** The explanation of a code; a sentence for one that has none. */
export const messageOf = (code: string): string => MESSAGES[code] ?? 'The request could not be processed.';

/** The HTTP status that VIES gives an error: 200 for its old codes, 400 or 500 for those of its web layer. */
export const statusOf = (code: string): number => {
  if (code === 'VOW-ERR-1') return 500;
  return code.startsWith('VOW-ERR-') ? 400 : 200;
};
