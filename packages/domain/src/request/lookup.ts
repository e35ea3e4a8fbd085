import { type Ask, TRADER_FIELDS } from '../check/upstream.js';
import { readVatNumber } from '../vat-number/index.js';
import type { CheckRequest } from './request.js';

type Details = Pick<Ask, 'requester' | 'trader'>;

const requesterOf = (requester: string | null): Ask['requester'] => {
  if (requester === null) return null;
  const read = readVatNumber(requester);
  return read.kind === 'well_formed' ? { memberState: read.memberState, national: read.national } : null;
};

/** The next lookup of a request: the number with its requester and trader, or the number alone. */
export const lookupOf = (
  request: Pick<CheckRequest, 'memberState' | 'national' | 'requester' | 'trader' | 'numberAlone'>,
): Ask => ({
  memberState: request.memberState,
  national: request.national,
  requester: request.numberAlone ? null : requesterOf(request.requester),
  trader: request.numberAlone ? null : request.trader,
});

/** True when a lookup carries at least one of the trader's details; empty ones are not sent. */
export const carriesTrader = ({ trader }: Pick<Ask, 'trader'>): boolean =>
  TRADER_FIELDS.some((field) => Boolean(trader?.[field]));

/** True when nothing but the number can be what the upstream refuses. */
export const isNumberAlone = (lookup: Details): boolean => lookup.requester === null && !carriesTrader(lookup);

/** What a lookup carries beside the number, for a person. Not for one that carries nothing else. */
export const describeDetails = (lookup: Details): string => {
  if (lookup.requester === null) return 'trader details';
  return carriesTrader(lookup) ? 'requester number and trader details' : 'requester number';
};

/**
 * The User-Agent of every outgoing call, so that an operator of an upstream can tell whose calls they are and, where
 * CONTACT_URL is set, whom to write to. The URL is written in ASCII: a header carries nothing else.
 */
export const userAgentOf = (contactUrl?: string): string =>
  contactUrl === undefined ? 'vat-validation-service' : `vat-validation-service (+${new URL(contactUrl).href})`;
