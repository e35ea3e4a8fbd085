import { newUuid } from '@vat/domain';
import { faultSize, reportFigure } from '@vat/testkit';
import fc from 'fast-check';
import { pick, stateMachine } from '../commands.fixture.js';
import { testDatabase } from '../test-database.fixture.js';
import { releaseDelivery } from './delivery-attempts.js';
import {
  add,
  at,
  type Claimed,
  deliveryModel,
  endRow,
  type Model,
  pendingOf,
  RETRY_DELAYS_MS,
} from './delivery-model.fixture.js';
import { endRemovedDeliveries } from './delivery-retention.js';
import { resendDelivery, sendTestEvent } from './events.js';
import { removeWebhook } from './webhooks.js';

const MAX_ON_DEMAND = 1_000;

const connected = testDatabase(2);
const { start, configure, claim, record, sweep, verify } = deliveryModel(connected);

const anyIndex = fc.nat({ max: 20 });

const machine = stateMachine<Model>({
  start,
  verify,
  maxSteps: 40,
  steps: (step) => {
    step(
      'send a test event',
      fc.constant(null),
      async (model) => {
        const { accountId, now } = model;
        const [id, event] = [newUuid(), newUuid()];
        const { kind } = await sendTestEvent(
          connected.db,
          MAX_ON_DEMAND,
        )({
          ...{ accountId, test: false, deliveryId: id, now: at(now) },
          event: { id: event, type: 'webhook.test', body: '{}' },
        });
        expect(kind).toBe(model.endpoint === null ? 'no_webhook' : 'made');
        if (kind === 'made') add(model, id, event);
      },
      3,
    );
    step('resend', anyIndex, async (model, n) => {
      const row = pick(model.rows, n);
      if (row === null) return;
      const id = newUuid();
      const reader = { accountId: model.accountId, testOnly: false };
      const { kind } = await resendDelivery(
        connected.db,
        MAX_ON_DEMAND,
      )({ deliveryId: row.id, reader, newDeliveryId: id, now: at(model.now) });
      expect(kind).toBe(model.endpoint === null ? 'no_webhook' : 'made');
      if (kind === 'made') add(model, id, row.event);
    });
    step(
      'claim the next attempt of',
      anyIndex,
      async (model, n) => {
        const row = pick(pendingOf(model), n) ?? pick(model.rows, n);
        if (row !== null) await claim(model, row, row.attempts + 1);
      },
      8,
    );
    step(
      'run an old job of',
      fc.record({ n: anyIndex, number: fc.integer({ min: 1, max: 4 }) }),
      async (model, old) => {
        const row = pick(model.rows, old.n);
        if (row !== null) await claim(model, row, old.number);
      },
    );
    const withClaim = (name: string, run: (model: Model, claimed: Claimed) => Promise<void>) =>
      step(name, anyIndex, async (model, n) => {
        const claimed = pick(model.claims, n);
        if (claimed === null) return;
        model.claims.splice(model.claims.indexOf(claimed), 1);
        // What a worker does that finds no endpoint.
        if (claimed.hasEndpoint) return run(model, claimed);
        const { row } = claimed;
        await endRemovedDeliveries(connected.db)(at(model.now), [row.id]);
        if (row.state === 'pending' && !row.held && row.endpoint !== model.endpoint) endRow(row, 'failed');
      });
    withClaim('succeed with attempt', (model, claimed) => record(model, claimed, true));
    withClaim('fail with attempt', (model, claimed) => record(model, claimed, false));
    withClaim('crash during attempt', async () => undefined);
    withClaim('release attempt', async (_model, { row, number, until }) => {
      await releaseDelivery(connected.db)({ deliveryId: row.id, number, leasedUntil: at(until) });
      if (row.state === 'pending' && row.attempts === number - 1 && row.leasedUntil === until) row.leasedUntil = null;
    });
    step('sweep', fc.boolean(), sweep);
    step('set the endpoint', fc.constant(null), configure, 2);
    step('remove the endpoint', fc.constant(null), async (model) => {
      expect(await removeWebhook(connected.db)(model.accountId, at(model.now))).toBe(model.endpoint !== null);
      if (model.endpoint !== null) for (const row of pendingOf(model)) endRow(row, 'failed');
      model.endpoint = null;
    });
    step('disable or enable the account', fc.constantFrom(true, false, false), async (model, disabled) => {
      model.disabled = disabled;
      const disabledAt = disabled ? at(model.now) : null;
      await connected.db.account.update({ where: { id: model.accountId }, data: { disabledAt } });
    });
    step(
      'let time pass',
      fc.constantFrom(500, 1_100, 3_100, 6_000),
      async (model, ms) => {
        model.now += ms;
      },
      3,
    );
  },
  // Once the account is enabled and nothing holds an attempt, every delivery is due, and reaches its end.
  end: async (model) => {
    model.claims = [];
    model.disabled = false;
    await connected.db.account.update({ where: { id: model.accountId }, data: { disabledAt: null } });
    for (let round = 0; pendingOf(model).length > 0; round += 1) {
      expect(round).toBeLessThan(2 * RETRY_DELAYS_MS.length + 2);
      model.now += 10_000;
      await sweep(model, true);
      for (const row of pendingOf(model)) await claim(model, row, row.attempts + 1);
      for (const claimed of model.claims.splice(0)) await record(model, claimed, false);
    }
    await verify(model);
  },
});

test('law: whatever happens in whatever order, a delivery has one attempt at a time, each is logged once, and it ends', async () => {
  const numRuns = faultSize(20, 2_000);
  await fc.assert(machine, { numRuns });
  reportFigure(`delivery machine: ${numRuns} runs`);
}, 1_200_000);
