import type { readSettings } from '@vat/runtime';
import { EVIDENCE_SETTINGS } from './compose-evidence.js';
import { DASHBOARD_SETTINGS } from './dashboard/compose-dashboard.js';
import { OPS_SETTINGS } from './ops/compose-ops.js';

/** The settings that an API process reads. */
export const API_SETTINGS = [
  'PORT',
  'HOST',
  'BASE_URL',
  'DATABASE_URL',
  'REDIS_URL',
  'REDIS_PREFIX',
  'UPSTREAM_WINDOW',
  'UPSTREAM_RETRY_DELAYS',
  'BACKPRESSURE_AFTER',
  'BACKGROUND_RETRY_DELAYS',
  'BACKGROUND_GIVE_UP_AFTER',
  'RATE_LIMIT',
  'SESSION_RATE_LIMIT',
  'MAX_CONNECTIONS',
  'RESPONSE_STALL_TIMEOUT',
  'TRUSTED_PROXIES',
  'LOG_LEVEL',
  ...DASHBOARD_SETTINGS,
  ...EVIDENCE_SETTINGS,
  ...OPS_SETTINGS,
] as const;

/** Their values. */
export type ApiSettings = ReturnType<typeof readSettings<(typeof API_SETTINGS)[number]>>;
