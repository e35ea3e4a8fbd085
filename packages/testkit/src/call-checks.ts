import { uuidOf } from '@vat/domain';
import { insertAccount } from './insert-account.js';
import { issueKeys } from './issue-keys.js';
import type { World } from './start-world.js';

/** What a direct check was answered, and how long its caller waited (milliseconds). */
export type CheckAnswer = { vatNumber: string; status: number; body: Record<string, unknown>; ms: number };

/** Fewer than an account may have pending, with room for what else a test has. */
const MOST_OF_AN_ACCOUNT = 150;

/** A key for each call: of the world's account, and of new ones where those would be too many for it. */
const keysFor = async (world: Pick<World, 'sql'>, count: number): Promise<string[]> => {
  const keys = await issueKeys(world, Math.min(count, MOST_OF_AN_ACCOUNT));
  while (keys.length < count) {
    const { account_id: id } = await insertAccount(world);
    keys.push(
      ...(await issueKeys(world, Math.min(count - keys.length, MOST_OF_AN_ACCOUNT), uuidOf('account', id) ?? '')),
    );
  }
  return keys;
};

/** POST /v1/checks for all numbers at once, each with a key of its own so that no rate limit is in the way. */
export const callChecks = async (
  world: Pick<World, 'sql' | 'baseUrl'>,
  vatNumbers: readonly string[],
): Promise<CheckAnswer[]> => {
  const keys = await keysFor(world, vatNumbers.length);
  return Promise.all(
    vatNumbers.map(async (vatNumber, i) => {
      const startedAt = performance.now();
      const response = await fetch(`${world.baseUrl()}/v1/checks`, {
        method: 'POST',
        headers: { authorization: `Bearer ${keys[i]}`, 'content-type': 'application/json' },
        body: JSON.stringify({ vat_number: vatNumber }),
      });
      const body = (await response.json()) as Record<string, unknown>;
      return { vatNumber, status: response.status, body, ms: performance.now() - startedAt };
    }),
  );
};
