import type { BenchServers } from '../open-servers.js';
import { openWorld } from '../open-world.js';
import { insertEndpoints } from './insert-deliveries.js';
import { type FirstByteFigures, measureFirstByte } from './measure-first-byte.js';
import { measureRate, type RateFigures, SENDERS } from './measure-rate.js';
import { openReceiver } from './open-receiver.js';

export type DeliveriesFigures = {
  endpoints: number;
  /** The best round of each sender. */
  rates: RateFigures[];
  /** A further run of our sender under a profiler, for the distribution of time only. */
  profiled: RateFigures;
  first_byte: FirstByteFigures;
};

/** Enough endpoints that the limit per endpoint (four in flight) does not limit the deliveries in flight of one process. */
const ENDPOINTS = 200;

/** Measures deliveries, a bare loop of POSTs, and the same job on other queues, alternating on the same servers. */
export const measureDeliveries = async (
  servers: BenchServers,
  options: { count: number; rounds: number; seconds: number; log: (line: string) => void },
): Promise<DeliveriesFigures> => {
  const { count, rounds, seconds, log } = options;
  const receiver = await openReceiver(ENDPOINTS);
  try {
    const world = await openWorld(0, { apis: 0, workers: 0 }, receiver.settings);
    try {
      const stage = { servers, world, receiver, accounts: await insertEndpoints(world, receiver.urls) };
      // This runs first because its worker creates the schedulers in Redis. Otherwise the first worker of the rate runs would
      // sweep its backlog into the other dispatch queue.
      log('deliveries: from commit to first byte');
      const first_byte = await measureFirstByte(stage, { eventsPerSecond: 200, seconds });
      const measured: RateFigures[] = [];
      for (let round = 0; round < rounds; round += 1)
        for (const sender of SENDERS) {
          const rate = await measureRate(stage, { sender, count, profiled: false });
          log(`deliveries: ${sender}, ${rate.per_s} a second`);
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
