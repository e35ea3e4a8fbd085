import type { Settled, Settlement } from '@vat/db';
import {
  type Answer,
  type CheckRequest,
  checkBody,
  checkCompletedBody,
  ENRICHMENT_DEADLINE_MS,
  type EnrichmentFinding,
  type EnrichmentSource,
  type EnrichmentSubject,
  type FindRequest,
  type HashCheck,
  newUuid,
  publicCheck,
} from '@vat/domain';
import type { JobHandler, RequestJob } from '@vat/queues';
import type { Logger } from '@vat/runtime';
import { splitVatNumber } from './ask-upstream.js';

export type SettleCheckDeps = {
  findRequest: FindRequest;
  sources: readonly EnrichmentSource[];
  hashCheck: HashCheck;
  newSalt: () => string;
  settleRequest: (settlement: Settlement) => Promise<Settled>;
  hint: (job: RequestJob) => Promise<void>;
  now: () => Date;
  log: Logger;
};

/** Asks the national sources that have something to say; together they end within {@link ENRICHMENT_DEADLINE_MS}. */
const enrich = (
  sources: readonly EnrichmentSource[],
  request: CheckRequest,
  answer: Answer,
): Promise<EnrichmentFinding[]> => {
  if (request.test || answer.verdict === 'malformed') return Promise.resolve([]);
  const subject: EnrichmentSubject = {
    memberState: request.memberState,
    national: request.national,
    valid: answer.verdict === 'valid',
    name: answer.name,
    address: answer.address,
    requester: request.requester === null ? null : splitVatNumber(request.requester),
  };
  const applicable = sources.filter((source) => source.appliesTo(subject));
  if (applicable.length === 0) return Promise.resolve([]);
  const deadline = AbortSignal.timeout(ENRICHMENT_DEADLINE_MS);
  return Promise.all(applicable.map((source) => source.look(subject, deadline)));
};

/** Enriches an answered request and records its check: everything the answer causes, in one transaction, once. */
export const settleCheck =
  ({
    findRequest,
    sources,
    hashCheck,
    newSalt,
    settleRequest,
    hint,
    now,
    log,
  }: SettleCheckDeps): JobHandler<RequestJob> =>
  async (job) => {
    const found = await findRequest(job.request_id);
    const request = found?.request;
    if (!request?.answer || (request.state !== 'waiting' && request.state !== 'pending')) return undefined;

    const { answer } = request;
    const findings = await enrich(sources, request, answer);
    const entries = [...request.entries, ...findings.map((finding) => finding.entry)];
    const id = newUuid();
    const hashed = hashCheck(checkBody(id, { ...request, entries }, answer, newSalt()));
    const settled = await settleRequest({
      requestId: request.id,
      entries,
      check: {
        id,
        vatNumber: request.vatNumber,
        valid: answer.verdict === 'valid',
        reference: request.reference,
        checkedAt: new Date(answer.answeredAt),
        bytes: hashed.bytes,
        hash: hashed.hash,
      },
      consumes: answer.verdict !== 'malformed',
      exchanges: findings.flatMap((finding) => finding.exchange ?? []),
      event: { id: newUuid(), type: 'check.completed', body: checkCompletedBody(request, publicCheck(hashed)) },
      deliveryId: newUuid(),
      now: now(),
    });
    if (settled)
      log.info('A check was recorded.', { request: request.id, check_id: hashed.body.id, verdict: answer.verdict });
    await hint(job);
    return undefined;
  };
