import { perMemberState } from '@vat/queues';
import type { Logger, Stoppable, Tracing } from '@vat/runtime';
import { composeBatches } from './compose-batches.js';
import { composeChecks } from './compose-checks.js';
import { composeEvidence } from './compose-evidence.js';
import { composeMail } from './compose-mail.js';
import { composeMaintenance } from './compose-maintenance.js';
import { composeRecording } from './compose-recording.js';
import { composeWatches } from './compose-watches.js';
import { composeWebhooks } from './compose-webhooks.js';
import { rolesOf, statesOf, WORKER_ROLES, type WorkerRole, type WorkerSettings } from './settings.js';
import { createWorkerContext } from './worker-context.js';

/** Composes a worker process and starts its consumers. Rejects with SettingsError on unknown names. */
export const compose = async (
  settings: WorkerSettings,
  { log, tracing }: { log: Logger; tracing: Tracing | null },
  stopping: AbortSignal,
  abortLookups: AbortSignal,
) => {
  const roles = rolesOf(settings);
  const states = statesOf(settings);
  const context = createWorkerContext(settings, { log, tracing }, stopping);
  const { servers, serve, ready, scrape, clockMeasured, metrics } = context;
  // Without a mail server nobody needs to serve `mail`.
  for (const role of WORKER_ROLES)
    if (role !== 'mail' || settings.SMTP_URL !== undefined) metrics.serves.set({ role }, roles.includes(role) ? 1 : 0);
  const ifServed = <T>(role: WorkerRole, composePart: () => T): T | null =>
    roles.includes(role) ? composePart() : null;

  const recording = composeRecording(context, roles);
  const checks = ifServed('checks', () => composeChecks(context, recording, abortLookups));
  const batches = ifServed('batches', () => composeBatches(context, recording, stopping));
  const webhooks = ifServed('webhooks', () => composeWebhooks(context, abortLookups));
  const watches = ifServed('watches', () => composeWatches(context, stopping));
  const evidence = ifServed('evidence', () => composeEvidence(context, abortLookups));
  const mail = ifServed('mail', () => composeMail(context, abortLookups));
  const maintenance = composeMaintenance(context);
  // A job must not run by a clock that is wrong.
  await clockMeasured;
  const serving = serve({
    ...(checks?.lookups ?? perMemberState(() => null)),
    'upstream-sandbox': checks?.sandbox ?? null,
    settle: checks?.settle ?? null,
    deliveries: webhooks?.deliveries ?? null,
    'deliveries-retry': webhooks?.retries ?? null,
    batches: batches?.batches ?? null,
    watches: watches?.watches ?? null,
    evidence: evidence?.evidence ?? null,
    mail: mail?.mail ?? null,
    maintenance: ifServed('maintenance', () => maintenance.maintenance),
  });
  /** Stopped last first. */
  const parts: Stoppable[] = [
    ...servers,
    { name: 'progress of batches', stop: recording.progress.drain },
    ...[checks, webhooks, evidence, mail, maintenance].flatMap((part) => part?.parts ?? []),
    ...serving,
  ];
  return { parts, ready, scrape, roles, states };
};
