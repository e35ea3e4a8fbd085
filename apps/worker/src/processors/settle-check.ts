import { ENRICHMENT_DEADLINE_MS, type EnrichmentSource, enrichCheck, type FindRequest } from '@vat/domain';
import type { JobHandler, RequestJob } from '@vat/queues';
import { enrichmentSubject } from './enrichment-subject.js';
import type { recordCheck } from './record-check.js';

export type SettleCheckDeps = {
  findRequest: FindRequest;
  sources: readonly EnrichmentSource[];
  recordCheck: ReturnType<typeof recordCheck>;
};

/** Enriches an answered request and records its check: everything the answer causes, in one transaction, once. */
export const settleCheck =
  ({ findRequest, sources, recordCheck }: SettleCheckDeps): JobHandler<RequestJob> =>
  async (job) => {
    const found = await findRequest(job.request_id);
    const request = found?.request;
    if (!request?.answer || (request.state !== 'waiting' && request.state !== 'pending')) return undefined;

    const { answer } = request;
    const subject = enrichmentSubject(request, answer);
    // Together they end within the deadline: it bounds the whole of a check.
    const findings =
      subject === null ? [] : await enrichCheck(sources, subject, AbortSignal.timeout(ENRICHMENT_DEADLINE_MS));
    const entries = [...request.entries, ...findings.map((finding) => finding.entry)];
    const exchanges = findings.flatMap((finding) => finding.exchange ?? []);
    await recordCheck({ job, request: { ...request, entries }, answer, exchanges });
    return undefined;
  };
