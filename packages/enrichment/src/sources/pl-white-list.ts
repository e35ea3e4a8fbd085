import { z } from 'zod';
import { lenientText } from '../lenient-text.js';
import type { SourceDefinition } from '../source-definition.js';

const subjectSchema = z.object({
  nip: lenientText,
  name: lenientText,
  statusVat: lenientText,
  regon: lenientText,
  krs: lenientText,
  residenceAddress: lenientText,
  workingAddress: lenientText,
  accountNumbers: z.array(z.unknown()).nullable().catch(null).default(null),
});
const answerSchema = z.object({ result: z.object({ subject: subjectSchema.nullable(), requestId: lenientText }) });
const refusalSchema = z.object({ code: z.string().regex(/^WL-\d+$/) });

const DAILY_LIMIT = 'WL-191';
const BEING_UPDATED = ['WL-195', 'WL-196'];

/**
 * Poland's list of VAT payers ("white list", Ministry of Finance), asked about today in Warsaw. An address may search a
 * hundred times a day, so a block is respected for an hour. The request id is Polish proof of diligence and goes first;
 * bank accounts are only counted.
 */
export const plWhiteList: SourceDefinition = {
  name: 'pl_white_list',
  blockedPauseMs: 3_600_000,
  appliesTo: ({ memberState, valid }) => memberState === 'PL' && valid,
  ask: ({ national }, today) =>
    /^\d{10}$/.test(national)
      ? { path: `/api/search/nip/${national}?date=${today('Europe/Warsaw')}` }
      : { skip: 'not a NIP of ten digits' },
  read: (json, { national }) => {
    const answer = answerSchema.safeParse(json);
    if (!answer.success) return null;
    const { subject, requestId } = answer.data.result;
    if (subject === null) return { outcome: 'not_found', facts: [['request id', requestId]] };
    if (subject.nip !== null && subject.nip !== national) return null;
    return {
      outcome: 'found',
      facts: [
        ['status', subject.statusVat],
        ['request id', requestId],
        ['regon', subject.regon],
        ['krs', subject.krs],
        ['bank accounts', subject.accountNumbers?.length],
        ['name', subject.name],
        ['address', subject.workingAddress ?? subject.residenceAddress],
      ],
    };
  },
  readRefusal: (json, status) => {
    const refusal = refusalSchema.safeParse(json);
    if (!refusal.success) return null;
    const { code } = refusal.data;
    if (code === DAILY_LIMIT) return { outcome: 'blocked', code };
    if (BEING_UPDATED.includes(code) || status !== 400) return { outcome: 'unavailable', code };
    return { outcome: 'rejected', code };
  },
};
