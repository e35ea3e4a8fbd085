import { type AnchorAudit, publicId } from '@vat/domain';
import type { ChainEnd } from '../anchor/verify-anchor-chain.js';
import {
  type AnchorsReport,
  evaluateAnchorRow,
  evaluateAnchorTree,
  evaluateToken,
  openReport,
} from './evaluate-anchor.js';

export type VerifyAnchorsDeps = {
  audit: AnchorAudit;
  /** PEM; see `verifyTimestamp`. All the authorities ever used must lead to one of them. */
  trustedRoots?: readonly string[];
  /** Called between slices, so that the walk leaves room for others. */
  pause?: () => Promise<void>;
};

const ANCHORS_PER_PAGE = 50;
const CHECKS_PER_PAGE = 2_000;
const STAMPS_PER_PAGE = 100;

const LEAF_FAULTS = {
  no_leaf: 'the check is live and has no leaf, so no anchor will ever hold it',
  unanchored_differs: 'the check differs from its leaf, which waits for the next anchor',
  unknown_anchor: 'the leaf of the check names an anchor that does not exist',
} as const;

/**
 * Recomputes everything that is proved: each anchor's form, hash, link, token, and its tree from its leaves and stored nodes;
 * each check that still exists against its leaf; each check's token. Memory stays bounded however much there is. What
 * it cannot see is an end of the chain cut off together with its leaves' places: dossiers that customers hold show that.
 */
export const verifyAnchors =
  ({ audit, trustedRoots = [], pause = async () => undefined }: VerifyAnchorsDeps) =>
  async (signal?: AbortSignal): Promise<AnchorsReport> => {
    const { report, differs } = openReport();

    const walkAnchors = async () => {
      let end: ChainEnd | null = null;
      for (let after = 0; ; ) {
        const slice = await audit.anchors(after, ANCHORS_PER_PAGE);
        for (const row of slice) {
          if (signal?.aborted) return;
          end = await evaluateAnchorRow({ row, before: end, trustedRoots, differs });
          report.leaves += await evaluateAnchorTree({ row, audit, differs, pause, signal });
          report.anchors += 1;
          if (row.stamp?.development) report.development += 1;
          after = row.seq;
        }
        if (slice.length < ANCHORS_PER_PAGE) return;
      }
    };

    const walkChecks = async () => {
      for (let after: string | null = null; !signal?.aborted; await pause()) {
        const { faults, next } = await audit.leafFaults(after, CHECKS_PER_PAGE);
        for (const { checkId, kind } of faults)
          differs({ kind, check_id: publicId('check', checkId), detail: LEAF_FAULTS[kind] });
        if (next === null) return;
        after = next;
      }
    };

    const walkStamps = async () => {
      for (let after: string | null = null; !signal?.aborted; await pause()) {
        const slice = await audit.checkStamps(after, STAMPS_PER_PAGE);
        for (const { subjectId, digest, token, facts, checkHash, checkBody, checkedAt: madeAt } of slice) {
          const told = (detail: string) =>
            differs({ kind: 'check_stamp', check_id: publicId('check', subjectId), detail });
          if (checkHash && Buffer.compare(checkHash, digest) !== 0)
            told('the digest stamped is not the hash of the check');
          if (facts.development) report.development += 1;
          const stamped = checkBody ? { data: checkBody } : { digest };
          const fault = evaluateToken({ token, stamped, facts, madeAt, trustedRoots });
          if (fault) told(fault);
          // Milliseconds each: locks and health checks have to live through a slice.
          await new Promise((resolve) => setImmediate(resolve));
        }
        report.stamps += slice.length;
        after = slice.at(-1)?.subjectId ?? after;
        if (slice.length < STAMPS_PER_PAGE) return;
      }
    };

    await walkAnchors();
    const beyond = await audit.leavesBeyond();
    if (beyond > 0) differs({ kind: 'unknown_anchor', detail: `${beyond} leaves lie in anchors after the last one` });
    if (!signal?.aborted) await walkChecks();
    if (!signal?.aborted) await walkStamps();
    return { ...report, whole: !signal?.aborted };
  };
