import type { IncomingMessage, ServerResponse } from 'node:http';
import { COMPANY_TYPE, isMemberState, type MemberState, TRADER_FIELDS, type Trader } from '@vat/domain';
import { TRADER_WIRE_NAMES } from '@vat/vies';

/** One received lookup. */
export type WireLookup = {
  memberState: MemberState;
  national: string;
  /** Member state and number as one text, or null. */
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

/** VIES's own pattern of a national number. It ignores the rules of the member states and does not accept blanks. */
const NATIONAL = /^[0-9A-Za-z+*.]{1,12}$/;

type Requester = { state: string | null; number: string | null };

const refuseRequester = ({ state, number }: Requester): string | null => {
  if (state === null && number === null) return null;
  if (state === null || number === null) return 'VOW-ERR-11';
  if (!isMemberState(state)) return 'VOW-ERR-2500';
  return NATIONAL.test(number) ? null : 'VOW-ERR-2700';
};

/**
 * Reads a lookup from a request body, or returns the error code of VIES: VOW-ERR-11 for a missing field, including
 * one half of a requester; VOW-ERR-2600, 2500 and 2700 for values that its patterns refuse; INVALID_INPUT for an
 * unknown member state or company type.
 */
export const readWireLookup = (body: unknown): WireLookup | string => {
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
  // VIES does not report which field is invalid.
  if (trader?.company_type !== undefined && !COMPANY_TYPE.test(trader.company_type)) return 'INVALID_INPUT';
  const requester = state !== null && number !== null ? state + number : null;
  return { memberState: country, national, requester, trader };
};

/** VIES's value of a field that a member state does not disclose. */
const UNDISCLOSED = '---';

/** Germany and Spain answer `---` for both name and address. */
const DISCLOSE_NOTHING: ReadonlySet<MemberState> = new Set(['DE', 'ES']);

type Disclosed = { name?: string | undefined; address?: string | undefined; consultation?: string | undefined };

const disclosedByDefault = ({ memberState, national }: WireLookup) => ({
  name: DISCLOSE_NOTHING.has(memberState) ? UNDISCLOSED : `Sandbox Trader ${memberState}${national}`,
  address: DISCLOSE_NOTHING.has(memberState) ? UNDISCLOSED : '1 Sandbox Street\n1000 Testville',
});

const matchWord = (part: string | undefined): string => {
  if (part === undefined) return 'NOT_PROCESSED';
  return /wrong/i.test(part) ? 'INVALID' : 'VALID'; // so that a test can cause both
};

type WireVerdict = { lookup: WireLookup; valid: boolean; now: Date; consultation: string; disclosed?: Disclosed };

/**
 * The answer object of VIES. A lookup with a requester gets `consultation`, any other `""`. A trader's part is VALID
 * unless it contains "wrong".
 */
export const wireVerdict = ({
  lookup,
  valid,
  now,
  consultation,
  disclosed = {},
}: WireVerdict): Record<string, unknown> => {
  const shown = valid ? disclosedByDefault(lookup) : { name: UNDISCLOSED, address: UNDISCLOSED };
  const body: Record<string, unknown> = {
    countryCode: lookup.memberState,
    vatNumber: lookup.national,
    requestDate: now.toISOString(),
    valid,
    requestIdentifier: lookup.requester === null ? '' : (disclosed.consultation ?? consultation),
    name: disclosed.name ?? shown.name,
    address: disclosed.address ?? shown.address,
  };
  for (const field of TRADER_FIELDS) body[TRADER_WIRE_NAMES[field]] = lookup.trader?.[field] ?? UNDISCLOSED;
  for (const field of TRADER_FIELDS) body[`${TRADER_WIRE_NAMES[field]}Match`] = matchWord(lookup.trader?.[field]);
  return body;
};

/** VIES's explanations of its codes; some codes have none. */
const MESSAGES: Readonly<Record<string, string>> = {
  INVALID_INPUT: 'Some data are invalid in the request',
  'VOW-ERR-1': 'An unexpected error occurred. Please retry later or contact the support team.',
  'VOW-ERR-11': 'A mandatory field is missing',
  'VOW-ERR-2500': 'The requester member state code is invalid.',
  'VOW-ERR-2600': 'The VAT number does not match the following regular expression : "{0}".',
  'VOW-ERR-2700': 'The requester VAT number does not match the following regular expression : "{0}".',
};

/** An error in the form of VIES's REST service, with an explanation if given. */
export const wireError = (code: string, message?: string): Record<string, unknown> => ({
  actionSucceed: false,
  errorWrappers: [{ error: code, ...(message === undefined ? {} : { message }) }],
});

/** The explanation of a code; a general sentence for a code without one. */
export const messageOf = (code: string): string => MESSAGES[code] ?? 'The request could not be processed.';

/** The HTTP status of VIES for an error: 200 for its old codes, 400 or 500 for those of its web layer. */
export const statusOf = (code: string): number => {
  if (code === 'VOW-ERR-1') return 500;
  return code.startsWith('VOW-ERR-') ? 400 : 200;
};

const MAX_BODY_BYTES = 4 * 1024 * 1024;

/**
 * Passes the parsed body to `use`, or undefined if it is not JSON or over 4 MiB. A callback, since a promise would
 * cost time at every lookup.
 */
export const readJson = (request: IncomingMessage, use: (body: unknown) => void): void => {
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.byteLength;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  });
  request.on('error', () => undefined); // a client that disconnects while sending its body needs no answer
  request.once('end', () => use(size <= MAX_BODY_BYTES ? parse(Buffer.concat(chunks).toString()) : undefined));
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Ends a response with a JSON body. */
export const sendJson = (response: ServerResponse, status: number, body: unknown): void => {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.byteLength }).end(bytes);
};
