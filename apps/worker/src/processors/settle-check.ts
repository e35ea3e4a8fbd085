import type { RequestRef, settleCheck } from '@vat/domain';
import type { JobHandler, RequestJob } from '@vat/queues';

/** The request of a job, as the domain names it. */
export const requestOfJob = (job: RequestJob): RequestRef => ({
  requestId: job.request_id,
  replyTo: job.reply_to,
  replyWithCheck: job.reply_with_check,
  traceparent: job.traceparent,
});

/** The job of a request. */
export const jobOfRequest = ({ requestId, replyTo, replyWithCheck, traceparent }: RequestRef): RequestJob => ({
  request_id: requestId,
  ...(replyTo !== undefined && { reply_to: replyTo, reply_with_check: replyWithCheck }),
  traceparent,
});

/** Enriches an answered request and records its check. */
export const settleCheckJob =
  (settle: ReturnType<typeof settleCheck>): JobHandler<RequestJob> =>
  async (job) => {
    await settle(requestOfJob(job));
    return undefined;
  };
