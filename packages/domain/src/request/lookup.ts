import type { LookupSubject, SplitVatNumber } from '../check/upstream.js';
import { TRADER_FIELDS } from '../trader.js';
import { readVatNumber } from '../vat-number/index.js';
import type { CheckRequest } from './request.js';

type Details = Pick<LookupSubject, 'requester' | 'trader'>;

/** A normalised number, split for VIES; null when no covered country's syntax accepts it. */
export const splitVatNumber = (vatNumber: string): SplitVatNumber | null => {
  const read = readVatNumber(vatNumber);
  return read.kind === 'well_formed' ? { memberState: read.memberState, national: read.national } : null;
};

/** The next lookup of a request: the number with its requester and trader, or the number alone. */
export const lookupOf = (
  request: Pick<CheckRequest, 'memberState' | 'national' | 'requester' | 'trader' | 'numberAlone'>,
): LookupSubject => ({
  memberState: request.memberState,
  national: request.national,
  requester: request.numberAlone || request.requester === null ? null : splitVatNumber(request.requester),
  trader: request.numberAlone ? null : request.trader,
});

/** The source of a request's next lookup: `vies_confirmation` while an earlier answer waits to be confirmed. */
export const lookupSourceOf = ({ unconfirmed }: Pick<CheckRequest, 'unconfirmed'>): 'vies' | 'vies_confirmation' =>
  unconfirmed === null ? 'vies' : 'vies_confirmation';

/** True when a lookup carries at least one of the trader's details; empty ones are not sent. */
export const carriesTrader = ({ trader }: Pick<LookupSubject, 'trader'>): boolean =>
  TRADER_FIELDS.some((field) => Boolean(trader?.[field]));

/** True when nothing but the number can be what the upstream refuses. */
export const isNumberAlone = (lookup: Details): boolean => lookup.requester === null && !carriesTrader(lookup);

/** What a lookup carries beside the number, for a person. Not for one that carries nothing else. */
export const describeDetails = (lookup: Details): string => {
  if (lookup.requester === null) return 'trader details';
  return carriesTrader(lookup) ? 'requester number and trader details' : 'requester number';
};

/**
 * The User-Agent of every outgoing call, so that the operator of an upstream can identify the caller and, where
 * CONTACT_URL is set, contact it. The URL is written in ASCII, as headers require.
 */
export const userAgentOf = (contactUrl?: string): string =>
  contactUrl === undefined ? 'vat-validation-service' : `vat-validation-service (+${new URL(contactUrl).href})`;
