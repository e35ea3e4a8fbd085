import type { Logger, Stoppable } from '@vat/runtime';
import { composeBatches } from './compose-batches.js';
import { composeChecks } from './compose-checks.js';
import { composeEvidence } from './compose-evidence.js';
import { composeMaintenance } from './compose-maintenance.js';
import { composeRecording } from './compose-recording.js';
import { composeWatches } from './compose-watches.js';
import { composeWebhooks } from './compose-webhooks.js';
import { rolesOf, statesOf, type WorkerSettings } from './settings.js';
import { createWorkerContext } from './worker-context.js';

/** Composes a worker process and starts its consumers. Throws SettingsError on unknown names. */
export const compose = (settings: WorkerSettings, log: Logger, stopping: AbortSignal, abortLookups: AbortSignal) => {
  const roles = rolesOf(settings);
  const states = statesOf(settings);
  const context = createWorkerContext(settings, log, stopping);
  const { servers, serving, ready, scrape } = context;

  const recording = composeRecording(context, roles);
  const parts: Stoppable[] = [...servers, { name: 'progress of batches', stop: recording.progress.drain }];
  if (roles.includes('checks')) parts.push(...composeChecks(context, recording, abortLookups));
  if (roles.includes('batches')) composeBatches(context, recording, stopping);
  if (roles.includes('webhooks')) parts.push(...composeWebhooks(context, abortLookups));
  if (roles.includes('watches')) composeWatches(context, stopping);
  if (roles.includes('evidence')) parts.push(...composeEvidence(context, abortLookups));
  parts.push(...composeMaintenance(context, roles), context.joinFleet(), serving);
  return { parts, ready, scrape, roles, states };
};
