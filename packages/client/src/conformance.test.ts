import { verify } from '@vat/receiver';
import { readVectors } from './conformance.fixture.js';
import { CheckHashError, ConnectionError } from './errors.js';
import { RETRY_POLICY, readRetryAfter, retryDelay } from './retry.js';
import { openScriptedService, type ScriptedService } from './scripted-service.fixture.js';
import { signEvent } from './sign-event.js';
import { verifyCheck } from './verify-check.js';
import { POLL_POLICY, poll } from './wait.js';

const vectors = await readVectors();

let service: ScriptedService;
beforeAll(async () => {
  service = await openScriptedService();
});
afterAll(() => service?.close());

describe('retries', () => {
  it('follow the policy of every client', () => {
    const { attempts, firstDelayMs, factor, maxDelayMs, spread, totalMs } = RETRY_POLICY;
    expect(vectors.retry_policy).toEqual({
      ...{ attempts, first_delay_ms: firstDelayMs, factor, max_delay_ms: maxDelayMs, spread, total_ms: totalMs },
    });
  });

  it.each(vectors.retries)('$name', ({ repeatable, attempt, elapsed_ms, status, headers, body, wait_ms }) => {
    const failed = { repeatable, attempt, elapsedMs: elapsed_ms, status, headers: new Headers(headers), body };
    expect(retryDelay(failed)).toBe(wait_ms);
  });
});

describe('polls', () => {
  it('follow the policy of every client', () => {
    const { intervalMs, leastIntervalMs } = POLL_POLICY;
    expect(vectors.poll_policy).toEqual({ interval_ms: intervalMs, least_interval_ms: leastIntervalMs });
  });

  it.each(vectors.polls)('$name', async ({ deadline_ms, answers: [accepted, ...polled], waits_ms, outcome }) => {
    const waits: number[] = [];
    const sleep = async (ms: number) => void waits.push(ms);
    const now = () => waits.reduce((sum, ms) => sum + ms, 0);
    const intervalOf = (text: string | null | undefined) =>
      readRetryAfter(new Headers(text ? { 'Retry-After': text } : {}));
    const wait = { waitMs: deadline_ms, intervalMs: intervalOf(accepted?.retry_after) };
    const status = await poll({ now, sleep })(wait, async () => {
      const answer = polled.shift();
      if (answer?.status === null) throw new ConnectionError('no answer');
      return {
        value: answer?.status,
        ended: answer?.status !== 'pending',
        intervalMs: intervalOf(answer?.retry_after),
      };
    });
    expect([status ?? 'pending', waits, polled]).toEqual([outcome, waits_ms, []]);
  });
});

describe('hashes of checks', () => {
  it.each(vectors.checks)('$name', ({ body, canonical, error }) => {
    const check: unknown = JSON.parse(body);
    if (error === null) expect(verifyCheck(check)).toBe(canonical);
    else {
      expect(() => verifyCheck(check)).toThrow(CheckHashError);
      expect(() => verifyCheck(check)).toThrow(expect.objectContaining({ code: error }));
    }
  });
});

describe('lists', () => {
  it.each(vectors.lists)('$name', async ({ query, pages, ids }) => {
    service.script(...pages.map(({ answer }) => ({ body: answer })));
    const found: string[] = [];
    for await (const { id } of service.client.list('listChecks', { query: query as object })) found.push(id);
    expect(found).toEqual(ids);
    const queries = service.calls.map(({ path }) => Object.fromEntries(new URL(path, service.baseUrl).searchParams));
    expect(queries).toEqual(pages.map((page) => page.query));
  });
});

describe('events', () => {
  it.each(vectors.events)('$name', async ({ after, answers, event_ids, continue_after }) => {
    // An event counts as handled when the next one is asked for.
    const following = { data: [{ event_id: 'evt_end', body: {} }], last_event_id: 'evt_end' };
    service.script(...[...answers, following].map(({ data, last_event_id }) => ({ body: { data, last_event_id } })));
    const found: string[] = [];
    const follower = service.client.events(after);
    for await (const { event_id } of follower) {
      if (event_id === 'evt_end') break;
      found.push(event_id);
    }
    expect([found, follower.after()]).toEqual([event_ids, continue_after]);
    const places = service.calls.map(({ path }) => new URL(path, service.baseUrl).searchParams.get('after'));
    expect(places).toEqual([...answers.map((answer) => answer.after), continue_after]);
  });
});

describe('signatures of forwarded events', () => {
  it.each(vectors.signatures)('$name', ({ secret, id, timestamp, body, service_signature, webhook_signature }) => {
    const at = new Date(Number(timestamp) * 1_000);
    const headers = signEvent({ secret, id, type: 'webhook.test', body, at });
    expect(headers).toMatchObject({
      'X-Service-Timestamp': timestamp,
      'X-Service-Signature': service_signature,
      'webhook-signature': webhook_signature,
    });
    expect(verify({ headers, rawBody: body, secret, now: () => at }).id).toBe(id);
  });
});
