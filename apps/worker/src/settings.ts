import { verifySlotsUrl } from '@vat/db';
import { type EnrichmentSourceName, MEMBER_STATES, type MemberState } from '@vat/domain';
import { readEnabledSources } from '@vat/enrichment';
import { readAsSetting, SettingsError, type SettingsOf } from '@vat/runtime';
import { type Network, parseNetworks } from '@vat/webhooks';

export type WorkerSettings = SettingsOf<'worker'>;

/** What WORKER_QUEUES may name. See docs/settings.md. */
export const WORKER_ROLES = ['checks', 'webhooks', 'batches', 'watches', 'evidence', 'mail', 'maintenance'] as const;
export type WorkerRole = (typeof WORKER_ROLES)[number];

const selectNames = <T extends string>(setting: string, values: string[], known: readonly T[]): T[] => {
  if (values.includes('all')) return [...known];
  if (values.length === 0) throw new SettingsError(`${setting} names none; known are ${known.join(', ')} and all.`);
  const unknown = values.filter((value) => !(known as readonly string[]).includes(value));
  if (unknown.length > 0)
    throw new SettingsError(`${setting} names ${unknown.join(', ')}; known are ${known.join(', ')} and all.`);
  return known.filter((name) => values.includes(name));
};

/** Networks that deliveries may go to although they are not public. Throws {@link SettingsError} on an invalid network. */
export const allowedNetworksOf = (settings: Pick<WorkerSettings, 'WEBHOOK_ALLOWED_NETWORKS'>): Network[] =>
  readAsSetting(() => parseNetworks(settings.WEBHOOK_ALLOWED_NETWORKS ?? ''), 'WEBHOOK_ALLOWED_NETWORKS');

/** The enabled enrichment sources. Throws {@link SettingsError} on an unknown name. */
export const enrichmentOf = (settings: WorkerSettings): EnrichmentSourceName[] =>
  readAsSetting(() => readEnabledSources(settings.ENRICHMENT_SOURCES));

/** The roles of this process. Throws {@link SettingsError} on an unknown name. */
export const rolesOf = (settings: WorkerSettings): WorkerRole[] =>
  selectNames('WORKER_QUEUES', settings.WORKER_QUEUES, WORKER_ROLES);

/** The member states whose lookups this process performs. Throws {@link SettingsError} on an unknown one. */
export const statesOf = (settings: WorkerSettings): MemberState[] =>
  selectNames(
    'WORKER_MEMBER_STATES',
    settings.WORKER_MEMBER_STATES.map((state) => (state === 'all' ? state : state.toUpperCase())),
    MEMBER_STATES,
  );

/** The address of the connection that holds slots. */
export const slotsUrlOf = ({ SLOTS_DATABASE_URL, DATABASE_URL }: WorkerSettings): string =>
  SLOTS_DATABASE_URL ?? DATABASE_URL;

const SLOTS_PROBLEMS = {
  pooled: (name: string) =>
    `${name} leads to a connection pooler. The limit of two lookups at a time needs a direct connection: set ` +
    'SLOTS_DATABASE_URL to the address of Postgres itself.',
  other_database: (name: string) =>
    `${name} leads to another database than DATABASE_URL. Set it to a direct address of the same database.`,
} as const;

/**
 * Ends the start of a worker that makes lookups when slots cannot be held with its settings. Does nothing while Postgres is
 * unavailable: then each new connection for slots is verified. Throws {@link SettingsError}.
 */
export const verifySlots = async (settings: WorkerSettings): Promise<void> => {
  if (!rolesOf(settings).includes('checks')) return;
  const found = await verifySlotsUrl(slotsUrlOf(settings), settings.DATABASE_URL);
  if (found === 'direct' || found === 'unknown') return;
  throw new SettingsError(
    SLOTS_PROBLEMS[found](settings.SLOTS_DATABASE_URL === undefined ? 'DATABASE_URL' : 'SLOTS_DATABASE_URL'),
  );
};
