import type { CheckEntry, EnrichmentSubject, SourceFacts } from '@vat/domain';
import { isHtml, type RecordedCall, readJson } from '@vat/outgoing';
import { ANSWER_CAP_BYTES } from './open-source-calls.js';
import type { DetailPairs, SourceDefinition, SourceReading, StatedFacts, Today } from './source-definition.js';

/** The maximum length of an entry's `detail`, in UTF-16 code units. */
export const DETAIL_LENGTH = 300;

/**
 * Makes one line of text that can be hashed: control characters become spaces (addresses contain line breaks), and lone
 * surrogates are removed, since they have no UTF-8 form. Cut at `length` code units.
 */
const cleanText = (value: string, length: number): string => {
  const line = value
    .replace(/\p{Cs}/gu, '')
    .replace(/\p{Cc}/gu, ' ')
    .replace(/\s+/gu, ' ')
    .trim();
  if (line.length <= length) return line;
  // The cut can split a surrogate pair; the remaining half is removed.
  return `${line.slice(0, length - 1).replace(/\p{Cs}$/u, '')}…`;
};

/**
 * `key: value; key: value` for a person, cleaned and at most {@link DETAIL_LENGTH} long; booleans become yes and no.
 */
export const detailLine = (pairs: DetailPairs): string => {
  const parts: string[] = [];
  for (const [key, value] of pairs) {
    if (value === null || value === undefined) continue;
    const text = cleanText(
      typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value),
      Number.MAX_SAFE_INTEGER,
    );
    if (text !== '') parts.push(`${key}: ${text}`);
  }
  return cleanText(parts.join('; '), DETAIL_LENGTH);
};

/** The maximum length of one fact, in UTF-16 code units. */
export const FACT_LENGTH = 500;

/** The maximum of VAT numbers that are stored from one answer. */
const MAX_VAT_NUMBERS = 20;

/**
 * The facts that the source states, each as one line of text that can be hashed; undefined when it states none. An empty
 * list of VAT numbers is a statement and is stored.
 */
export const storedFacts = (stated: StatedFacts | undefined): SourceFacts | undefined => {
  const { vat_numbers: numbers, matches, ...texts } = stated ?? {};
  const stored = Object.entries(texts).flatMap(([name, value]) => {
    const text = typeof value === 'string' ? cleanText(value, FACT_LENGTH) : '';
    return text === '' ? [] : [[name, text] as const];
  });
  const facts: SourceFacts = {
    ...Object.fromEntries(stored),
    ...(numbers
      ? { vat_numbers: numbers.slice(0, MAX_VAT_NUMBERS).map((number) => cleanText(number, FACT_LENGTH)) }
      : {}),
    ...(matches ? { matches } : {}),
  };
  return Object.keys(facts).length === 0 ? undefined : facts;
};

/** The outcome of a call, with the outcomes of docs/api.md. */
export type Answer = Pick<CheckEntry, 'outcome' | 'code' | 'detail' | 'facts' | 'contradicts'>;

/** The maximum length of a source's own code, in UTF-16 code units. */
const CODE_LENGTH = 100;

/** The source's own code as text that can be hashed. */
const storedCode = (reading: SourceReading | null): { code?: string } => {
  const code = cleanText(reading?.code ?? '', CODE_LENGTH);
  return code === '' ? {} : { code };
};

const withReading = (reading: SourceReading, fallback?: string): Answer => {
  const detail = reading.detail ? detailLine(reading.detail) : (fallback ?? '');
  const facts = storedFacts(reading.facts);
  return {
    outcome: reading.outcome,
    ...storedCode(reading),
    ...(detail === '' ? {} : { detail }),
    ...(facts ? { facts } : {}),
    ...(reading.contradicts ? { contradicts: true } : {}),
  };
};

const unanswered = ({ end, errorCode }: RecordedCall): Answer => {
  if (end === 'deadline') return { outcome: 'timeout', detail: 'no complete answer in time' };
  if (end === 'aborted') return { outcome: 'timeout', detail: 'the check could not wait longer' };
  if (end === 'too_long') return { outcome: 'unavailable', detail: `answer over ${ANSWER_CAP_BYTES / 1024} KiB` };
  return { outcome: 'unavailable', detail: `connection failed: ${errorCode}` };
};

const unreadable = (body: Uint8Array, json: unknown): string => {
  if (json !== undefined) return 'JSON of another shape than documented';
  return isHtml(body) ? 'HTML instead of JSON' : 'not JSON';
};

/**
 * Maps a call to an outcome, in the same way for every source: only the source's own JSON is `found` or `not_found`; an
 * HTML page, a 404 without that JSON (an API that moved) or a 5xx is no answer. Never throws.
 */
export const readAnswer = (
  definition: SourceDefinition,
  call: RecordedCall,
  subject: EnrichmentSubject,
  today: Today,
): Answer => {
  const { response } = call;
  if (response === null) return unanswered(call);
  const { status, body } = response;
  if (!response.complete && status !== 429) return unanswered(call);

  const http = `HTTP ${status}`;
  const json = readJson(body);
  const ok = status >= 200 && status < 300;
  const read = () =>
    ok ? definition.read(json, subject, today) : (definition.readRefusal?.(json, status, subject, today) ?? null);
  const reading = json === undefined ? null : read();
  const code = storedCode(reading);

  if (status === 429) return { outcome: 'blocked', ...code, detail: http };
  if (status >= 500) return { outcome: 'unavailable', ...code, detail: http };
  if (reading) return withReading(reading, ok ? undefined : http);
  if (ok) return { outcome: 'unavailable', detail: unreadable(body, json) };
  if (status < 400) return { outcome: 'unavailable', detail: `${http}, redirects are not followed` };
  if (status === 401 || status === 403) return { outcome: 'blocked', detail: http };
  // Only a refusal in the API's own form concerns the request; a proxy's page does not.
  if ((status === 400 || status === 422) && json !== undefined) return { outcome: 'rejected', detail: http };
  return { outcome: 'unavailable', detail: http };
};
