import { presentStatus } from '@vat/contracts';
import { type MinuteTally, memberStateHealth, type QueueDepth, STATUS_WINDOW_MS } from '@vat/domain';
import type { RequestHandler } from 'express';

export type StatusDeps = {
  readMinutes: (from: Date) => Promise<MinuteTally[]>;
  queueDepths: (now: Date) => Promise<QueueDepth[]>;
  now: () => Date;
};

/** However often it is polled, the database is asked once in this time. */
const REMEMBERED_MS = 2_000;

/** GET /v1/status: what the fleet itself saw of each member state lately. */
export const showStatus = ({ readMinutes, queueDepths, now }: StatusDeps): RequestHandler => {
  let known: { until: number; body: Promise<unknown> } | null = null;

  const read = async (at: Date): Promise<unknown> => {
    const [tallies, depths] = await Promise.all([
      readMinutes(new Date(at.getTime() - STATUS_WINDOW_MS)),
      queueDepths(at),
    ]);
    return presentStatus(memberStateHealth(tallies, depths, at), at);
  };

  return async (_req, res) => {
    const at = now();
    if (known === null || known.until <= at.getTime()) {
      const mine = { until: at.getTime() + REMEMBERED_MS, body: read(at) };
      known = mine;
      // A failure is told to those who wait for it and then forgotten.
      mine.body.catch(() => {
        if (known === mine) known = null;
      });
    }
    res.json(await known.body);
  };
};
