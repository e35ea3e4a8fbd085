import { type AccountLeases, newUuid } from '@vat/domain';

/** How long a lease outlives the process that held it, and how often it is renewed. Milliseconds. */
const LEASE_MS = 9_000;
const RENEW_EVERY_MS = 3_000;

/** `lost` aborts when somebody else may have the lease by now: then one too many would run. `release` never rejects. */
export type HeldLease = { lost: AbortSignal; release: () => Promise<void> };

type HoldLeaseDeps = { leases: AccountLeases; onFailure: (error: unknown) => void };

/**
 * Takes one of an account's leases (its export, a download) and holds it until it is released; null when all are taken. A process that dies loses it
 * within {@link LEASE_MS}, which is why it is a row that has to be renewed.
 */
export const holdLease =
  ({ leases, onFailure }: HoldLeaseDeps) =>
  async (accountId: string): Promise<HeldLease | null> => {
    const holder = newUuid();
    let renewedAt = performance.now();
    if (!(await leases.take(accountId, holder, LEASE_MS))) return null;
    const lost = new AbortController();
    const renew = async () => {
      const at = performance.now();
      try {
        if (await leases.renew(accountId, holder, LEASE_MS)) renewedAt = at;
        else lost.abort();
      } catch (error) {
        onFailure(error);
        // At the next turn it would be too late.
        if (at + RENEW_EVERY_MS - renewedAt > LEASE_MS) lost.abort();
      }
    };
    const timer = setInterval(renew, RENEW_EVERY_MS);
    let released: Promise<void> | undefined;
    const release = () => {
      clearInterval(timer);
      released ??= leases.release(accountId, holder).catch(onFailure);
      return released;
    };
    return { lost: lost.signal, release };
  };
