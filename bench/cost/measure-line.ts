import { newUuid, packPlan, periodOf, planBatch, uuidOf } from '@vat/domain';
import { insertAccount, type TestServers } from '@vat/testkit';
import { measureBatches } from '../measure-batches.js';
import { inWorld } from '../open-world.js';
import { numberAt } from '../unique-number.js';
import { type CpuCost, costOfLookup, LATENCY_MS, type Measure, pick, sumOf } from './cpu-cost.js';
import { measureBareInsert, measureBareJobs } from './measure-bare.js';

const BATCHES = 3;

const bareLine = (servers: TestServers, lines: number): Promise<CpuCost> =>
  inWorld({}, async (world) => {
    const account = await insertAccount(world, { plan: 'enterprise' });
    const at = new Date();
    const batches = Array.from({ length: BATCHES }, (_, batch) => {
      const rows = Array.from({ length: lines }, (_row, n) => {
        const number = numberAt(n, batch * 1_000);
        return {
          line: n + 2,
          cells: [number, 'x'.repeat(150)],
          candidate: number,
          country: null,
          reference: null,
          requester: null,
        };
      });
      return {
        id: newUuid(),
        accountId: String(uuidOf('account', account.account_id)),
        label: null,
        fileName: null,
        requester: null,
        ...packPlan(planBatch({ rows, requester: null, at })),
        ...{ header: ['vat_number', 'note'], quota: { period: periodOf(at), limit: 1_000_000 }, createdAt: at },
        overQuota: { code: 'QUOTA_EXCEEDED' as const, message: '' },
        giveUpAt: new Date(at.getTime() + 86_400_000),
        ...{ maxActive: BATCHES, lineLimit: { max: 1_000_000, since: new Date(0) }, idempotency: null },
        answerOf: () => ({ status: 201, headers: {}, body: Buffer.from('{}') }),
      };
    });
    const inserted = await measureBareInsert(servers, world, batches);
    const rows = await world.sql<{ id: string }>('SELECT id FROM request ORDER BY id LIMIT $1', [lines]);
    return sumOf(inserted, await measureBareJobs(servers, world, { ids: rows.map(({ id }) => id), work: 'line' }));
  });

/** CPU of a line of a batch: its part of the upload, its lookup and its end. */
export const measureLine: Measure = async (servers, { lines }) => {
  const bare = await bareLine(servers, lines);
  const batch = await measureBatches(servers, { lines, workers: 1, latencyMs: LATENCY_MS });
  const ours = sumOf(pick(batch.upload_cpu_ms, 'api', 'postgres', 'redis'), costOfLookup(batch));
  return { what: 'a line of a batch', baseline: 'its statements and a BullMQ job', n: lines, ours, bare, goal: null };
};
