import { type AnchorAudit, publicId } from '@vat/domain';
import { type ChainedStamp, describeStanding } from '../anchor/evaluate-stamps.js';
import type { ChainEnd } from '../anchor/verify-anchor-chain.js';
import {
  type AnchorsReport,
  evaluateAnchorRow,
  evaluateAnchorTree,
  evaluateToken,
  openReport,
} from './evaluate-anchor.js';
import { reportStandings } from './report-standings.js';

type VerifyAnchorsDeps = {
  audit: AnchorAudit;
  now: () => Date;
  /** PEM; see `verifyTimestamp`. The chain of every authority that was ever used must lead to one of them. */
  trustedRoots?: readonly string[];
  /** Called between pages, so that other work can run. */
  pause?: () => Promise<void>;
};

const ANCHORS_PER_PAGE = 50;
const CHECKS_PER_PAGE = 2_000;
const STAMPS_PER_PAGE = 100;

const LEAF_FAULTS = {
  no_leaf: 'the check is live and has no leaf, so no anchor will ever contain it',
  unanchored_differs: 'the check differs from its leaf, which is waiting for the next anchor',
  unknown_anchor: 'the leaf of the check names an anchor that does not exist',
} as const;

/**
 * Recomputes all evidence: the form, hash, link, token and tree of each anchor; the leaf of each check that still exists; the
 * token of each check; and whether the time-stamps still hold. Memory is bounded, except for the times of each anchor's stamp.
 * It cannot detect that the end of the chain was removed together with the indexes
 * of its leaves; dossiers of customers show that.
 */
export const verifyAnchors =
  ({ audit, now, trustedRoots = [], pause = async () => undefined }: VerifyAnchorsDeps) =>
  async (signal?: AbortSignal): Promise<AnchorsReport> => {
    const builder = openReport();
    const { report, differs } = builder;
    const chain: ChainedStamp[] = [];

    const walkAnchors = async () => {
      let end: ChainEnd | null = null;
      for (let after = 0; ; ) {
        const page = await audit.anchors(after, ANCHORS_PER_PAGE);
        for (const row of page) {
          if (signal?.aborted) return;
          const evaluated = await evaluateAnchorRow({ row, before: end, trustedRoots, differs });
          end = evaluated.end;
          chain.push(evaluated.chained);
          report.leaves += await evaluateAnchorTree({ row, audit, differs, pause, signal });
          report.anchors += 1;
          if (row.stamp?.development) report.development += 1;
          after = row.seq;
        }
        if (page.length < ANCHORS_PER_PAGE) return;
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
      const standings = reportStandings(chain, now(), builder);
      for (let after: string | null = null; !signal?.aborted; await pause()) {
        const page = await audit.checkStamps(after, STAMPS_PER_PAGE);
        for (const { subjectId, digest, token, facts, checkHash, checkBody, checkedAt: madeAt, anchorSeq } of page) {
          const add = (detail: string, kind = 'check_stamp') =>
            differs({ kind, check_id: publicId('check', subjectId), detail });
          if (checkHash && Buffer.compare(checkHash, digest) !== 0)
            add('the stamped digest is not the hash of the check');
          if (facts.development) report.development += 1;
          const stamped = checkBody ? { data: checkBody } : { digest };
          const verified = evaluateToken({ token, stamped, facts, madeAt, trustedRoots });
          if (verified.fault !== null) add(verified.fault);
          else {
            const standing = standings.ofCheck(verified.period, anchorSeq);
            if (standing.kind === 'outlived') add(describeStanding(standing), 'check_expired');
          }
          // Each token takes milliseconds; locks and health checks must be served meanwhile.
          await new Promise((resolve) => setImmediate(resolve));
        }
        report.stamps += page.length;
        after = page.at(-1)?.subjectId ?? after;
        if (page.length < STAMPS_PER_PAGE) return;
      }
    };

    await walkAnchors();
    const beyond = await audit.leavesBeyond();
    if (beyond > 0)
      differs({ kind: 'unknown_anchor', detail: `${beyond} leaves belong to anchors after the last one` });
    if (!signal?.aborted) await walkChecks();
    if (!signal?.aborted) await walkStamps();
    return { ...report, whole: !signal?.aborted };
  };
