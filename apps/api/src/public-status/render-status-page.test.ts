import { MEMBER_STATES } from '@vat/domain';
import { renderStatusPage } from './render-status-page.js';

const AT = '2026-11-20T10:00:00.000Z';

/** The page while the first member states of the list have these health values. */
const pageWith = (...healths: ('down' | 'degraded')[]): string =>
  renderStatusPage({
    generated_at: AT,
    window_seconds: 900,
    member_states: MEMBER_STATES.map((member_state, n) => ({
      ...{ member_state, health: healths[n] ?? 'ok', asks: 1, answered: 100, saturated: 0, unavailable: 0 },
      ...{ p50_ms: 100, p95_ms: 100, queue_depth: 0, oldest_wait_ms: null },
      oldest_waits_ms: { interactive: null, background: null, batch: null, watch: null },
    })),
    history: {
      from: '2026-10-21T10:00:00.000Z',
      to: AT,
      data: [
        {
          ...{
            hour: '2026-11-20T09:00:00.000Z',
            member_state: 'AT',
            asked: 1,
            answered: 1,
            saturated: 0,
            unavailable: 0,
          },
          ...{ p50_ms: 100, p95_ms: 100 },
        },
      ],
    },
  });

test.each([
  [[], 'All member states that were looked up are answering'],
  [['down'], 'Austria does not answer'],
  [['down', 'down', 'degraded'], 'Austria and Belgium do not answer; Bulgaria answers only in part'],
  [
    ['down', 'degraded', 'degraded', 'degraded', 'degraded'],
    '1 member state does not answer; 4 member states answer only in part',
  ],
  [['down', 'down', 'down', 'down', 'degraded'], '4 member states do not answer; 1 member state answers only in part'],
  [['down', 'down', 'down', 'down', 'down'], '5 member states do not answer'],
  [['degraded', 'degraded', 'degraded', 'degraded', 'degraded'], '5 member states answer only in part'],
] as const)('with %j the page says: %s', (healths, sentence) => {
  expect(pageWith(...healths)).toContain(`<h1>${sentence}</h1>`);
});

test('one lookup is not called lookups', () => {
  expect(pageWith()).toContain('title="1 lookup in 30 days"');
});
