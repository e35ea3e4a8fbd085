import { z } from 'zod';
import { lenientText } from '../lenient-text.js';
import type { SourceDefinition, SourceReading } from '../source-definition.js';

const answerSchema = z.object({
  status: z.string().regex(/^evatr-\d{4}$/),
  id: lenientText,
  anfrageZeitpunkt: lenientText,
  gueltigAb: lenientText,
  gueltigBis: lenientText,
});

// The office's list of statuses (GET /app/v1/info/statusmeldungen). A status that is not here says nothing about the
// number: the office or the member state could not answer.
const OUTCOMES: Readonly<Record<string, SourceReading['outcome']>> = {
  'evatr-0000': 'found',
  'evatr-0003': 'found', // valid, though a field of the qualified question is missing
  'evatr-2008': 'found', // valid, with a peculiarity for the qualified question
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
  'evatr-0008': 'blocked', // too many questions in this session
};

const read = (json: unknown): SourceReading | null => {
  const answer = answerSchema.safeParse(json);
  if (!answer.success) return null;
  const { status, id, anfrageZeitpunkt, gueltigAb, gueltigBis } = answer.data;
  return {
    outcome: (Object.hasOwn(OUTCOMES, status) ? OUTCOMES[status] : undefined) ?? 'unavailable',
    code: status,
    facts: [
      ['status', status],
      ['request id', id],
      ['asked at', anfrageZeitpunkt],
      ['valid from', gueltigAb],
      ['valid until', gueltigBis],
    ],
  };
};

/**
 * The German confirmation of foreign numbers (eVatR, Bundeszentralamt für Steuern), which a German requester needs for
 * a tax-free supply; asked for invalid numbers too. It answers in `status` under several HTTP statuses (a number that
 * is not assigned is a 404).
 */
export const deEvatr: SourceDefinition = {
  name: 'de_evatr',
  appliesTo: ({ memberState, requester }) => requester?.memberState === 'DE' && memberState !== 'DE',
  ask: ({ memberState, national, requester }) =>
    requester
      ? {
          path: '/app/v1/abfrage',
          json: {
            anfragendeUstid: `${requester.memberState}${requester.national}`,
            angefragteUstid: `${memberState}${national}`,
          },
        }
      : { skip: 'no requester' },
  read,
  readRefusal: read,
};
