import type { StoredCheck } from '../check/check.js';
import type { Exchange } from '../check/upstream.js';
import type { CheckRequest } from '../request/request.js';
import type { AccountChange } from '../watch/watch.js';

/** Checks that a dossier may hold. */
export const MAX_EXPORTED_CHECKS = 10_000;

/** Filters the evidence of an account; null where not restricted. `from` is inclusive, `to` exclusive. */
export type EvidenceChoice = { from: Date | null; to: Date | null; vatNumber: string | null; reference: string | null };

/** A chosen check as it stood when it was chosen: its anchor, and whether it had a time-stamp. */
type ChosenCheck = { id: string; anchorSeq: number | null; stamped: boolean };

/**
 * The ids of what an export holds, as of one moment. Rows are read later, in chunks: recorded rows never change, and anchors
 * and time-stamps added later are left out. Every list is in ascending order.
 */
export type ChosenEvidence = {
  accountName: string;
  /** Live checks, one more than wanted at most. */
  checks: ChosenCheck[];
  /** Live requests that had no check. */
  requests: string[];
  anchors: { seq: number; stamped: boolean }[];
  changes: string[];
};

/** Port: chooses evidence in one snapshot; at most `limit` checks. */
export type ChooseEvidence = (accountId: string, choice: EvidenceChoice, limit: number) => Promise<ChosenEvidence>;

/** Port: chooses the checks that cover the supplies of an account's coverage, in one snapshot; at most as many as a file has lines. */
export type ChooseCovering = (accountId: string, coverageId: string) => Promise<ChosenEvidence>;

/** A check of an export. `token`: its time-stamp's, by now. */
type ExportedCheck = StoredCheck & { requestId: string; token: Uint8Array | null };

/** A request of an export that had no check when it was chosen; by now it may have one (`completed`). */
export type ExportedRequest = Pick<
  CheckRequest,
  | ('id' | 'vatNumber' | 'requester' | 'reference' | 'state' | 'createdAt' | 'acceptedAt' | 'giveUpAt')
  | ('attempts' | 'lastError' | 'reason' | 'entries')
> & { endedAt: Date | null };

/** Port: what an export reads, by ids; rows deleted meanwhile are left out. */
export type ReadEvidence = {
  checks: (ids: readonly string[]) => Promise<ExportedCheck[]>;
  requests: (ids: readonly string[]) => Promise<ExportedRequest[]>;
  /** Exchanges by request, in the order in which they were made. */
  exchanges: (requestIds: readonly string[]) => Promise<Map<string, Exchange[]>>;
  anchors: (seqs: readonly number[]) => Promise<{ seq: number; body: Uint8Array; token: Uint8Array | null }[]>;
  /** The bodies of at most `limit` anchors after `seq`, in order. */
  anchorBodies: (seq: number, limit: number) => Promise<{ seq: number; body: Uint8Array }[]>;
  /** For each authority, the `seq` of the last anchor after `seq` that it stamped until `at`. */
  lastStamped: (seq: number, at: Date) => Promise<number[]>;
  changes: (ids: readonly string[]) => Promise<AccountChange[]>;
};

/**
 * Port: leases that limit an account's concurrent exports and downloads over all processes. `take` and `renew` resolve to
 * whether `holder` now has a lease.
 */
export type AccountLeases = {
  take: (accountId: string, holder: string, forMs: number) => Promise<boolean>;
  renew: (accountId: string, holder: string, forMs: number) => Promise<boolean>;
  release: (accountId: string, holder: string) => Promise<void>;
};
