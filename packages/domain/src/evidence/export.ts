import type { CheckEntry } from '../check/entry.js';
import type { Exchange } from '../check/upstream.js';
import type { Change } from '../watch/watch.js';

/** Checks that a dossier may hold. Source: contract part 1 §8. */
export const MOST_EXPORTED_CHECKS = 10_000;

/** Which evidence of an account is wanted; null where it is not restricted. `from` is inclusive, `to` exclusive. */
export type EvidenceChoice = { from: Date | null; to: Date | null; vatNumber: string | null; reference: string | null };

/** A chosen check as it stood when it was chosen: its anchor, and whether it had a time-stamp. */
export type ChosenCheck = { id: string; anchorSeq: number | null; stamped: boolean };

/**
 * What an export holds, by id, as of one moment. Rows are read later, a slice at a time: what is recorded never changes, and
 * what is only added to it (anchors, time-stamps) is taken as it was at that moment. Every list rises.
 */
export type ChosenEvidence = {
  accountName: string;
  /** Live checks, one more than wanted at most. */
  checks: ChosenCheck[];
  /** Live requests that had no check. */
  requests: string[];
  /** The anchors that the checks are in. */
  anchors: { seq: number; stamped: boolean }[];
  /** Changes of watches. */
  changes: string[];
};

/** Port: chooses evidence in one snapshot; at most `limit` checks. */
export type ChooseEvidence = (accountId: string, choice: EvidenceChoice, limit: number) => Promise<ChosenEvidence>;

/** A check of an export. `token`: its time-stamp's, by now. */
export type ExportedCheck = {
  id: string;
  requestId: string;
  bytes: Uint8Array;
  hash: Uint8Array;
  token: Uint8Array | null;
};

/** A request of an export that had no check when it was chosen; by now it may have one (`completed`). */
export type ExportedRequest = {
  id: string;
  vatNumber: string;
  requester: string | null;
  reference: string | null;
  state: 'waiting' | 'pending' | 'completed' | 'abandoned' | 'withdrawn';
  createdAt: Date;
  acceptedAt: Date | null;
  giveUpAt: Date | null;
  endedAt: Date | null;
  attempts: number;
  lastError: string | null;
  reason: string | null;
  entries: CheckEntry[];
};

/** A change of a watch in an export. */
export type ExportedChange = Change & {
  id: string;
  watchId: string;
  vatNumber: string;
  label: string | null;
  checkId: string;
  changedAt: Date;
};

/** Port: what an export reads, by ids; what is gone meanwhile is left out. */
export type ReadEvidence = {
  checks: (ids: readonly string[]) => Promise<ExportedCheck[]>;
  requests: (ids: readonly string[]) => Promise<ExportedRequest[]>;
  /** Exchanges by request, in the order in which they were made. */
  exchanges: (requestIds: readonly string[]) => Promise<Map<string, Exchange[]>>;
  anchors: (seqs: readonly number[]) => Promise<{ seq: number; body: Uint8Array; token: Uint8Array | null }[]>;
  changes: (ids: readonly string[]) => Promise<ExportedChange[]>;
};

/**
 * Port: leases on what an account may run only so many of at a time, over all processes: its one export, its downloads of
 * results. `take` and `renew` resolve to whether `holder` has a lease from now on.
 */
export type AccountLeases = {
  take: (accountId: string, holder: string, forMs: number) => Promise<boolean>;
  renew: (accountId: string, holder: string, forMs: number) => Promise<boolean>;
  release: (accountId: string, holder: string) => Promise<void>;
};
