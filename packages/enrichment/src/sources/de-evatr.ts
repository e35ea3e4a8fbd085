import type { EnrichmentSubject, FactMatches, MatchLetter } from '@vat/domain';
import { z } from 'zod';
import { lenientText, optional, pastEnd, readAs } from '../register-fields.js';
import type { DailyList, SourceDefinition, SourceReading, Today } from '../source-definition.js';

const letter = optional(z.enum(['A', 'B', 'C', 'D']));
const answerSchema = z.object({
  status: z.string().regex(/^evatr-\d{4}$/),
  id: lenientText,
  anfrageZeitpunkt: lenientText,
  gueltigAb: lenientText,
  gueltigBis: lenientText,
  ergFirmenname: letter,
  ergStrasse: letter,
  ergPlz: letter,
  ergOrt: letter,
});
const statesSchema = z.array(z.object({ alpha2: lenientText })).min(1);

// The office's list of statuses (GET /app/v1/info/statusmeldungen). Any other status is no statement about the number:
// the office or the member state could not answer.
const OUTCOMES: Readonly<Record<string, SourceReading['outcome']>> = {
  'evatr-0000': 'found',
  'evatr-0003': 'found', // valid, though a field of the qualified request is missing
  'evatr-2008': 'found', // valid, with a special case in the qualified request
  'evatr-2001': 'not_found', // not assigned
  'evatr-2002': 'not_found', // valid only from gueltigAb
  'evatr-2006': 'not_found', // was valid from gueltigAb to gueltigBis
  'evatr-0002': 'rejected',
  'evatr-0004': 'rejected',
  'evatr-0005': 'rejected',
  'evatr-0006': 'rejected',
  'evatr-0007': 'rejected',
  'evatr-0012': 'rejected',
  'evatr-2003': 'rejected',
  'evatr-2005': 'rejected', // the requester's own number is not valid
  'evatr-0008': 'blocked', // too many requests in this session
};

/** The fields of the qualified request; null for the simple one. */
const qualified = ({ trader }: EnrichmentSubject) =>
  trader?.name && trader.city
    ? {
        firmenname: trader.name,
        ort: trader.city,
        ...(trader.postal_code ? { plz: trader.postal_code } : {}),
        ...(trader.street ? { strasse: trader.street } : {}),
      }
    : null;

/**
 * The office's letters; null when it compared nothing. A part without a letter was not requested (C) or is not
 * available (D).
 */
const matchesOf = (answer: z.output<typeof answerSchema>, subject: EnrichmentSubject): FactMatches | null => {
  const requested = qualified(subject);
  const { ergFirmenname, ergStrasse, ergPlz, ergOrt } = answer;
  if (!requested || [ergFirmenname, ergStrasse, ergPlz, ergOrt].every((value) => value === null)) return null;
  const part = (value: MatchLetter | null, isRequested: boolean): MatchLetter => value ?? (isRequested ? 'D' : 'C');
  return {
    name: part(ergFirmenname, true),
    street: part(ergStrasse, requested.strasse !== undefined),
    postal_code: part(ergPlz, requested.plz !== undefined),
    city: part(ergOrt, true),
  };
};

const read = readAs(answerSchema, (answer, subject: EnrichmentSubject, today: Today): SourceReading => {
  const { status, id, anfrageZeitpunkt, gueltigAb, gueltigBis } = answer;
  const outcome = (Object.hasOwn(OUTCOMES, status) ? OUTCOMES[status] : undefined) ?? 'unavailable';
  const matches = matchesOf(answer, subject);
  return {
    outcome,
    code: status,
    contradicts: (outcome === 'found' && !subject.valid) || (outcome === 'not_found' && subject.valid),
    facts: {
      status,
      registered_since: gueltigAb,
      registered_until: pastEnd(gueltigBis, today('Europe/Berlin')),
      receipt: id,
      matches,
    },
    detail: [
      ['status', status],
      ['request id', id],
      ['asked at', anfrageZeitpunkt],
      ['valid from', gueltigAb],
      ['valid until', gueltigBis],
      ['name', matches?.name],
      ['street', matches?.street],
      ['postal code', matches?.postal_code],
      ['city', matches?.city],
    ],
  };
});

/** The office's codes of the member states. Client libraries disagree on whether Greece is EL or GR there. */
const memberStates: DailyList = {
  path: '/app/v1/info/eu_mitgliedstaaten',
  neededFor: ({ memberState }) => memberState === 'EL',
  read: readAs(statesSchema, (states) => states.flatMap(({ alpha2 }) => alpha2 ?? [])),
};

const prefixOf = ({ memberState }: EnrichmentSubject, list: readonly string[] | null): string =>
  memberState === 'EL' && list && !list.includes('EL') && list.includes('GR') ? 'GR' : memberState;

/**
 * The German confirmation of foreign numbers (eVatR, Bundeszentralamt für Steuern), which a German requester needs for a
 * tax-free supply; requested for invalid numbers too. With the trader's name and city it is the qualified confirmation,
 * which compares them; otherwise it is the simple one. The answer is in `status`, with several HTTP statuses (404 for a
 * number that is not assigned).
 */
export const deEvatr = {
  name: 'de_evatr',
  url: 'https://api.evatr.vies.bzst.de',
  appliesTo: ({ memberState, requester }) => requester?.memberState === 'DE' && memberState !== 'DE',
  dailyList: memberStates,
  createRequest: (subject, { list }) =>
    subject.requester
      ? {
          path: '/app/v1/abfrage',
          json: {
            anfragendeUstid: `${subject.requester.memberState}${subject.requester.national}`,
            angefragteUstid: `${prefixOf(subject, list)}${subject.national}`,
            ...qualified(subject),
          },
        }
      : { skip: 'no requester' },
  read,
  readRefusal: (json, _status, subject, today) => read(json, subject, today),
} satisfies SourceDefinition;
