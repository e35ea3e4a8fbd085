import { z } from 'zod';
import type { Client } from '../client.js';
import { ApiError, PendingError } from '../errors.js';
import type { Check } from '../generated/api-types.js';
import { verifyCheck } from '../verify-check.js';
import { checkUntilAborted } from './check-number.js';
import { take } from './command.js';

/** A tool of the Model Context Protocol. The descriptions are all that a model knows about it. */
export type Tool<Input extends z.ZodObject = z.ZodObject> = {
  title: string;
  description: string;
  input: Input;
  /** Changes nothing in the service. */
  readOnly: boolean;
  /** `signal` also aborts after {@link CALL_MS}. */
  run: (client: Client, input: z.output<Input>, signal: AbortSignal) => Promise<Record<string, unknown>>;
};

const tool = <Input extends z.ZodObject>(given: Tool<Input>): Tool => given as unknown as Tool;

/**
 * Programs that use tools give up after a minute, and then show nothing. The service may take 48 s until it answers 202; a
 * request that takes longer continues in the background.
 */
export const CALL_MS = 55_000;
/** How long to wait after a 202. */
const WAIT_MS = 25_000;
const ROWS = 20;

const number = z.string().describe('A VAT number in any notation, such as "FR 40 303 265 045".');
const text = (what: string) => z.string().optional().describe(what);
const day = (what: string) => text(`${what}: a date such as 2026-11-01, or a time in RFC 3339.`);

const pending = (id: string) => ({
  status: 'pending',
  request_id: id,
  explanation:
    'VIES has not answered yet. This says nothing about the number. The request continues in the background: call get_check with request_id in some minutes.',
});

const orPending = (result: Promise<Check>): Promise<Record<string, unknown>> =>
  result.catch((error: unknown) => {
    if (error instanceof PendingError) return pending(error.requestId);
    throw error;
  });

const isVerified = (check: Check): boolean => {
  try {
    return verifyCheck(check) !== '';
  } catch {
    return false;
  }
};

/**
 * The public pages of checks by id; empty where the service has none (PUBLIC_VERIFICATION=off). One is requested after the other, as
 * a key may make ten calls a second.
 */
const publicPages = async (client: Client, checks: Check[], signal: AbortSignal): Promise<Map<string, string>> => {
  const pages = new Map<string, string>();
  try {
    for (const { id } of checks) pages.set(id, (await client.call('getCheckLink', { id }, { signal })).body.url);
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
  return pages;
};

/** What a check proves, without what its sources said. `publicUrl`: undefined without one. */
const evidenceOf = (check: Check, publicUrl: string | undefined): Record<string, unknown> => ({
  id: check.id,
  vat_number: check.vat_number,
  verdict: check.verdict,
  name: check.name,
  evidence_grade: check.evidence_grade ?? null,
  consultation_number: check.consultation_number,
  reference: check.reference,
  checked_at: check.checked_at,
  response_hash: check.response_hash,
  hash_verified: isVerified(check),
  timestamp: check.timestamp,
  anchor: check.anchor,
  public_url: publicUrl,
});

/** The tools by name. */
export const TOOLS: Readonly<Record<string, Tool>> = {
  check_vat_number: tool({
    title: 'Check a VAT number',
    description:
      'Checks a VAT number of the European Union or Northern Ireland with VIES and national registers, and stores the answer as evidence. valid is true or false; verdict malformed means that no such number can exist. Each call with a live key looks the number up and uses a unit of the quota. Without an answer in time the result has status pending, which says nothing about the number.',
    readOnly: false,
    input: z.strictObject({
      vat_number: number,
      country_code: text('Two letters. Required when the number has no country prefix.'),
      requester_vat_number: text('Your own VAT number; VIES then issues a consultation number as proof.'),
      reference: text('Your own reference, such as an order number.'),
      trader: z
        .strictObject({
          name: text('The name.'),
          street: text('The street.'),
          postal_code: text('The postal code.'),
          city: text('The city.'),
        })
        .optional()
        .describe('What you know about the trader; it is compared with what the registers state.'),
    }),
    run: (client, input, signal) => orPending(checkUntilAborted(client, input, { waitMs: WAIT_MS, signal })),
  }),
  get_check: tool({
    title: 'Get a check',
    description:
      'Gets a recorded check by its id (chk_…) with everything its sources said, or the outcome of a request that was pending (req_…).',
    readOnly: true,
    input: z.strictObject({ id: z.string().describe('chk_… or req_….') }),
    run: async (client, { id }, signal) => {
      if (id.startsWith('req_')) return orPending(client.waitForRequest(id, { waitMs: 0, signal }));
      return (await client.call('getCheck', { id }, { signal })).body;
    },
  }),
  batch_status: tool({
    title: 'Get the status of batches',
    description:
      'Gets how far a batch (an uploaded file of VAT numbers) is, with its first failed lines, or without batch_id the newest batches.',
    readOnly: true,
    input: z.strictObject({ batch_id: text('bat_…') }),
    run: async (client, { batch_id: id }, signal) => {
      if (id === undefined) return { batches: (await client.call('listBatches', {}, { signal })).body.data };
      const { body: batch } = await client.call('getBatch', { id }, { signal });
      const failed = client.list('listBatchLines', { id, query: { status: 'failed', limit: ROWS } }, { signal });
      return { batch, failed_lines: batch.failed > 0 ? await take(failed, ROWS) : [] };
    },
  }),
  member_state_status: tool({
    title: 'Get the availability of member states',
    description:
      'Gets how well the registers of the member states answered this service lately: ok, degraded, down or unknown, with shares and waiting times. Use it to explain why a check is pending.',
    readOnly: true,
    input: z.strictObject({ member_state: text('Two letters, such as DE; EL is Greece. All of them without it.') }),
    run: async (client, { member_state: state }, signal) => {
      const { body } = await client.call('getStatus', {}, { signal });
      const states = body.member_states.filter((one) => !state || one.member_state === state.toUpperCase());
      if (states.length === 0) throw new Error(`${state} is not a member state. Greece is EL, Northern Ireland XI.`);
      return { ...body, member_states: states };
    },
  }),
  find_evidence: tool({
    title: 'Find evidence',
    description:
      'Finds recorded checks, newest first, with what proves each of them: grade, consultation number, hash (recomputed here), time-stamp and anchor. Use it to answer whether and when a VAT number was checked.',
    readOnly: true,
    input: z.strictObject({
      vat_number: number.optional(),
      reference: text('The reference that was given with the check.'),
      valid: z.boolean().optional().describe('Only checks that say valid, or only others.'),
      from: day('From this time, inclusive'),
      to: day('Up to this time, exclusive'),
      limit: z.int().min(1).max(100).default(ROWS).describe('How many at most.'),
      public_links: z
        .boolean()
        .default(false)
        .describe(
          'Also public_url of each check, where anybody can see and verify it without an account. Set it when somebody wants a link: whoever has it can read the whole check, its reference included, and it cannot be withdrawn.',
        ),
    }),
    run: async (client, { limit, public_links: withLinks, ...filters }, signal) => {
      const found = await take(client.list('listChecks', { query: { ...filters, limit } }, { signal }), limit);
      const pages = await publicPages(client, withLinks ? found : [], signal);
      return {
        checks: found.map((check) => evidenceOf(check, pages.get(check.id))),
        may_have_more: found.length === limit,
      };
    },
  }),
};
