import { publicId, uuidOf } from '@vat/domain';
import { insertChecks, issueKeys, type TestProcess, type TestServers } from '@vat/testkit';
import { inWorld } from '../open-world.js';
import { type CpuCost, leastOf, type Measure, measureCpu, pick } from './cpu-cost.js';
import { startBare } from './measure-bare.js';

const READERS = 16;
/** Keys of one account, and calls a second of each: the limiter stores as many times of each key. */
const KEYS = 100;
const RATE_LIMIT = 100;

/** CPU of reading one check, `count` times by some concurrent clients. */
const measureReads = async (
  servers: TestServers,
  api: TestProcess,
  { ids, keys, count }: { ids: readonly string[]; keys: readonly string[]; count: number },
): Promise<CpuCost> => {
  const readAll = async (reads: number): Promise<void> => {
    let left = reads;
    const client = async (): Promise<void> => {
      for (; left > 0; ) {
        const n = left;
        left -= 1;
        const headers = { authorization: `Bearer ${keys[n % keys.length]}` };
        const response = await fetch(`${String(api.ready.base_url)}/v1/checks/${ids[n % ids.length]}`, { headers });
        if (response.status !== 200) throw new Error(`a read was answered ${response.status}`);
        await response.arrayBuffer();
      }
    };
    await Promise.all(Array.from({ length: READERS }, client));
  };
  await readAll(count / 2);
  const cost = await measureCpu({ api: api.pid, ...servers.pids }, count, () => readAll(count));
  return pick(cost, 'api', 'postgres', 'redis');
};

/** CPU of a read, the better of two rounds. */
export const measureRead: Measure = (servers, { reads }) =>
  inWorld({ apis: 1, settings: { RATE_LIMIT: String(RATE_LIMIT) } }, async (world) => {
    const [api] = world.apis;
    const ids = await insertChecks(world, { accountId: world.account.account_id, count: 2_000, exchanges: 1 });
    const account = String(uuidOf('account', world.account.account_id));
    const keys = await issueKeys(world, KEYS, account);
    const bareApi = await startBare(world, 'bare-api.ts', { BARE_ACCOUNT: account });
    const publicIds = ids.map((id) => publicId('check', id));
    const rounds: { ours: CpuCost; bare: CpuCost }[] = [];
    try {
      for (let round = 0; round < 2; round += 1) {
        const bare = await measureReads(servers, bareApi, { ids, keys, count: reads });
        rounds.push({
          bare,
          ours: await measureReads(servers, api as TestProcess, { ids: publicIds, keys, count: reads }),
        });
      }
      const bare = leastOf(rounds.map((round) => round.bare));
      const ours = leastOf(rounds.map((round) => round.ours));
      const baseline = 'Express, a script in Redis, the statement, a log line';
      return { what: '`GET /v1/checks/{id}`', baseline, n: reads, ours, bare, goal: 2 };
    } finally {
      await bareApi.stop();
    }
  });
