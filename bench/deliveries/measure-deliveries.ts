import type { Ground } from '../open-fixture.js';
import { openWorld } from '../open-world.js';
import { insertEndpoints } from './insert-deliveries.js';
import { type FirstByteFigures, measureFirstByte } from './measure-first-byte.js';
import { measureRate, type RateFigures, SENDERS } from './measure-rate.js';
import { openReceiver } from './open-receiver.js';

export type DeliveriesFigures = {
  endpoints: number;
  /** The best round of each sender. */
  rates: RateFigures[];
  /** A further run of ours under a profiler: where the time goes, not how much of it. */
  profiled: RateFigures;
  first_byte: FirstByteFigures;
};

/** Enough that the share of one endpoint (four in flight) is no limit to what one process has in flight. */
const ENDPOINTS = 200;

/** Measures deliveries beside a bare loop of posts and the same job on other queues, in turns on the same servers. */
export const measureDeliveries = async (
  ground: Ground,
  options: { count: number; rounds: number; seconds: number; say: (line: string) => void },
): Promise<DeliveriesFigures> => {
  const { count, rounds, seconds, say } = options;
  const receiver = await openReceiver(ENDPOINTS);
  try {
    const world = await openWorld(0, { apis: 0, workers: 0 }, receiver.settings);
    try {
      const stage = { ground, world, receiver, accounts: await insertEndpoints(world, receiver.urls) };
      // First, since its worker marks Redis as primed: otherwise the next one would sweep its backlog into the other lane.
      say('deliveries: from commit to first byte');
      const first_byte = await measureFirstByte(stage, { eventsPerSecond: 200, seconds });
      const measured: RateFigures[] = [];
      for (let round = 0; round < rounds; round += 1)
        for (const sender of SENDERS) {
          const rate = await measureRate(stage, { sender, count, profiled: false });
          say(`deliveries: ${sender}, ${rate.per_s} a second`);
          measured.push(rate);
        }
      const rates = SENDERS.flatMap((sender) =>
        measured
          .filter((rate) => rate.sender === sender)
          .toSorted((a, b) => b.per_s - a.per_s)
          .slice(0, 1),
      );
      return {
        endpoints: ENDPOINTS,
        rates,
        profiled: await measureRate(stage, { sender: 'ours', count, profiled: true }),
        first_byte,
      };
    } finally {
      await world.stop();
    }
  } finally {
    await receiver.stop();
  }
};
