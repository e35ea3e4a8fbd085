import { z } from 'zod';
import { lenientText, optional, pastEnd, readAs } from '../register-fields.js';
import type { SourceDefinition, SourceReading } from '../source-definition.js';

const subjectSchema = z.object({
  nip: lenientText,
  name: lenientText,
  statusVat: lenientText,
  regon: lenientText,
  krs: lenientText,
  residenceAddress: lenientText,
  workingAddress: lenientText,
  registrationLegalDate: lenientText,
  restorationDate: lenientText,
  removalDate: lenientText,
  accountNumbers: optional(z.array(z.unknown())),
});
type Subject = z.output<typeof subjectSchema>;

const entrySchema = z.object({
  identifier: lenientText,
  subjects: z.array(subjectSchema).nullable().default(null),
  error: optional(z.object({ code: z.string() })),
});
/** Since version 1.3 there is one entry for each number; earlier versions have one list of all subjects. */
const answerSchema = z.object({
  result: z.union([
    z.object({ entries: z.array(entrySchema), requestId: lenientText }),
    z.object({ subjects: z.array(subjectSchema), requestId: lenientText }),
  ]),
});
const refusalSchema = z.object({ code: z.string().regex(/^WL-\d+$/) });

const DAILY_LIMIT = 'WL-191';
const BEING_UPDATED = ['WL-195', 'WL-196'];

/** The list's state of an active VAT payer, and those of a subject that is none. */
const ACTIVE = 'Czynny';
const NOT_REGISTERED = ['Zwolniony', 'Niezarejestrowany'];

const NIPS_PER_SEARCH = 30;
const FAILURE_PAUSE_MS = 900_000;

const WEIGHTS = [6, 5, 7, 2, 3, 4, 5, 6, 7];

/**
 * Whether a number is a NIP with a correct check digit: one incorrect number makes the list refuse the whole search.
 */
const isNip = (national: string): boolean =>
  /^\d{10}$/.test(national) &&
  WEIGHTS.reduce((sum, weight, at) => sum + weight * Number(national[at]), 0) % 11 === Number(national[9]);

const createRequest: NonNullable<SourceDefinition['shared']>['createRequest'] = (nips, today) => ({
  path: `/api/search/nips/${nips.join(',')}?date=${today('Europe/Warsaw')}`,
});

/** The answer's entry for one number; null when there is none. */
const subjectsOf = (result: z.output<typeof answerSchema>['result'], national: string) => {
  if ('entries' in result) return result.entries.find(({ identifier }) => identifier === national) ?? null;
  return { subjects: result.subjects.filter(({ nip }) => nip === national), error: null };
};

const readSubject = (subject: Subject, receipt: string | null, today: string): SourceReading => {
  const { restorationDate: restored } = subject;
  const removed = pastEnd(subject.removalDate, today);
  const address = subject.workingAddress ?? subject.residenceAddress;
  return {
    outcome: 'found',
    contradicts: NOT_REGISTERED.includes(subject.statusVat ?? ''),
    facts: {
      name: subject.name,
      address,
      status: subject.statusVat,
      registered_since: subject.registrationLegalDate,
      registered_until: removed !== null && (restored === null || restored < removed) ? removed : null,
      register_id: subject.krs ?? subject.regon,
      receipt,
    },
    detail: [
      ['status', subject.statusVat],
      ['request id', receipt],
      ['regon', subject.regon],
      ['krs', subject.krs],
      ['bank accounts', subject.accountNumbers?.length],
      ['name', subject.name],
      ['address', address],
    ],
  };
};

/**
 * Poland's list of VAT payers ("white list", Ministry of Finance), for the current day in Warsaw. An address may make a
 * hundred searches a day, each for thirty numbers, and is then refused until midnight. The request id is Polish proof of
 * diligence and is therefore near the front of the detail; bank accounts are only counted. A number that is not on the
 * list does not belong to a VAT payer.
 */
export const plWhiteList: SourceDefinition = {
  name: 'pl_white_list',
  url: 'https://wl-api.mf.gov.pl',
  sample: { memberState: 'PL', national: '5260250274' }, // Ministerstwo Finansów
  // During an outage each probe costs one of the day's searches.
  failurePauseMs: FAILURE_PAUSE_MS,
  appliesTo: ({ memberState, valid }) => memberState === 'PL' && valid,
  shared: { size: NIPS_PER_SEARCH, numberOf: ({ national }) => national, createRequest, timeZone: 'Europe/Warsaw' },
  createRequest: ({ national }, { today }) =>
    isNip(national) ? createRequest([national], today) : { skip: 'not a NIP of ten digits with its check digit' },
  read: readAs(answerSchema, ({ result }, { national }, today) => {
    const entry = subjectsOf(result, national);
    if (entry === null) return null;
    if (entry.error) return { outcome: 'rejected', code: entry.error.code };
    const receipt = result.requestId;
    const { subjects } = entry;
    if (subjects === null) return null;
    if (subjects.length === 0)
      return { outcome: 'not_found', contradicts: true, facts: { receipt }, detail: [['request id', receipt]] };
    const listed = subjects.filter(({ nip }) => nip === null || nip === national);
    // A number may have earlier entries beside the current one.
    const subject = listed.find(({ statusVat }) => statusVat === ACTIVE) ?? listed[0];
    return subject ? readSubject(subject, receipt, today('Europe/Warsaw')) : null;
  }),
  readRefusal: readAs(refusalSchema, ({ code }, status) => {
    if (code === DAILY_LIMIT) return { outcome: 'blocked', code };
    if (BEING_UPDATED.includes(code) || status !== 400) return { outcome: 'unavailable', code };
    return { outcome: 'rejected', code };
  }),
};
