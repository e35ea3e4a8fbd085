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

/** Puts a worker process together and starts what it serves. Throws SettingsError on unknown names. */
export const compose = (settings: WorkerSettings, log: Logger, stopping: AbortSignal, abortLookups: AbortSignal) => {
  const roles = rolesOf(settings);
  const states = statesOf(settings);
  const foundation = createWorkerContext(settings, log, stopping);
  const { servers, serving, ready, scrape } = foundation;

  const recording = composeRecording(foundation, roles);
  const parts: Stoppable[] = [...servers, { name: 'progress of batches', stop: recording.progress.drain }];
  if (roles.includes('checks')) parts.push(...composeChecks(foundation, recording, abortLookups));
  if (roles.includes('batches')) composeBatches(foundation, recording, stopping);
  if (roles.includes('webhooks')) parts.push(...composeWebhooks(foundation, abortLookups));
  if (roles.includes('watches')) composeWatches(foundation, stopping);
  if (roles.includes('evidence')) parts.push(...composeEvidence(foundation, abortLookups));
  parts.push(...composeMaintenance(foundation, roles), foundation.joinFleet(), serving);
  return { parts, ready, scrape, roles, states };
};
