import type { CheckOutcome, EnrichmentSubject, SourceFacts } from '@vat/domain';
import { ANSWER_CAP_BYTES, type SourceCall } from './call-source.js';
import { detailLine } from './detail-line.js';
import { keptFacts } from './kept-facts.js';
import type { SourceDefinition, SourceReading } from './source-definition.js';

/** What a call comes to, in the contract's outcomes. */
export type Answer = {
  outcome: CheckOutcome;
  code?: string;
  detail?: string;
  facts?: SourceFacts;
  contradicts?: true;
};

const NOT_JSON = Symbol('not JSON');

const parse = (body: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(body));
  } catch {
    return NOT_JSON;
  }
};

const withReading = (reading: SourceReading, fallback?: string): Answer => {
  const detail = reading.detail ? detailLine(reading.detail) : (fallback ?? '');
  const facts = keptFacts(reading.facts);
  return {
    outcome: reading.outcome,
    ...(reading.code ? { code: reading.code } : {}),
    ...(detail === '' ? {} : { detail }),
    ...(facts ? { facts } : {}),
    ...(reading.contradicts ? { contradicts: true } : {}),
  };
};

const unreadable = (body: Uint8Array, json: unknown) => {
  if (json !== NOT_JSON) return 'JSON of another shape than documented';
  return new TextDecoder().decode(body.subarray(0, 64)).trimStart().startsWith('<')
    ? 'HTML instead of JSON'
    : 'not JSON';
};

const readJson = (
  definition: SourceDefinition,
  { json, status, subject, ok }: { json: unknown; status: number; subject: EnrichmentSubject; ok: boolean },
): SourceReading | null => {
  if (ok) return definition.read(json, subject);
  return definition.readRefusal?.(json, status, subject) ?? null;
};

const unanswered = ({ end, errorCode }: SourceCall): Answer => {
  if (end === 'timeout') return { outcome: 'timeout', detail: 'no complete answer in time' };
  if (end === 'aborted') return { outcome: 'timeout', detail: 'the check could not wait longer' };
  if (end === 'too_large') return { outcome: 'unavailable', detail: `answer over ${ANSWER_CAP_BYTES / 1024} KiB` };
  return { outcome: 'unavailable', detail: `connection failed${errorCode ? `: ${errorCode}` : ''}` };
};

/**
 * Turns a call into an outcome, for every source alike: only the source's own JSON is ever `found` or `not_found`; a
 * page of HTML, a bare 404 (an API that moved) or a 5xx is no answer. Never throws.
 */
export const readAnswer = (definition: SourceDefinition, call: SourceCall, subject: EnrichmentSubject): Answer => {
  const { response } = call.exchange;
  if (response === null) return unanswered(call);
  const { status, body } = response;
  if (!response.complete && status !== 429) return unanswered(call);

  const http = `HTTP ${status}`;
  const json = parse(body);
  const ok = status >= 200 && status < 300;
  const reading = json === NOT_JSON ? null : readJson(definition, { json, status, subject, ok });
  const code = reading?.code ? { code: reading.code } : {};

  if (status === 429) return { outcome: 'blocked', ...code, detail: http };
  if (status >= 500) return { outcome: 'unavailable', ...code, detail: http };
  if (reading) return withReading(reading, ok ? undefined : http);
  if (ok) return { outcome: 'unavailable', detail: unreadable(body, json) };
  if (status < 400) return { outcome: 'unavailable', detail: `${http}, redirects are not followed` };
  if (status === 401 || status === 403) return { outcome: 'blocked', detail: http };
  // Only a refusal in the API's own form speaks about our question; a proxy's page does not.
  if ((status === 400 || status === 422) && json !== NOT_JSON) return { outcome: 'rejected', detail: http };
  return { outcome: 'unavailable', detail: http };
};
