import { readFileSync } from 'node:fs';
import { z } from 'zod';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The text of a setting (`undefined` when it is unset), or the problem with its source. */
export type GivenSecret = { text: string | undefined; problem?: undefined } | { problem: string };

const isSet = (text: string | undefined): text is string => text !== undefined && text.trim() !== '';

/**
 * Reads the secret setting `name` from NAME, or from the file that NAME_FILE names (as Docker and Kubernetes mount secrets),
 * without the line break at its end. A problem names the setting, but neither the content nor the path: otherwise a secret
 * that was put into NAME_FILE by mistake would be printed.
 */
export const readSecretFile = (env: Environment, name: string): GivenSecret => {
  const file = env[`${name}_FILE`];
  const text = isSet(env[name]) ? env[name] : undefined;
  if (!isSet(file)) return { text };
  if (text !== undefined) return { problem: `${name}: set ${name} or ${name}_FILE, not both` };
  try {
    const content = readFileSync(file, 'utf8').replace(/[\r\n]+$/, '');
    return isSet(content) ? { text: content } : { problem: `${name}: the file of ${name}_FILE is empty` };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { problem: `${name}: the file of ${name}_FILE cannot be read (${code ?? 'not a path'})` };
  }
};

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** Reads `250ms`, `10s`, `2m`, `1h` as milliseconds; `null` for anything else. */
export const readDuration = (text: string): number | null => {
  const match = /^(\d{1,9})(ms|s|m|h)$/.exec(text.trim());
  return match ? Number(match[1]) * UNITS[match[2] as keyof typeof UNITS] : null;
};

/** A setting that is a duration, in milliseconds once read. */
export const duration = () =>
  z.string().transform((text, context) => {
    const ms = readDuration(text);
    if (ms !== null) return ms;
    context.addIssue({ code: 'custom', message: 'write a duration as 250ms, 10s, 2m or 1h' });
    return z.NEVER;
  });

/** A setting that is a comma-separated list of at least one duration. */
export const durations = () =>
  z.string().transform((text, context) => {
    const list = text.split(',').map(readDuration);
    if (list.every((ms) => ms !== null)) return list;
    context.addIssue({ code: 'custom', message: 'write durations as 500ms,1s,2m' });
    return z.NEVER;
  });

const url = () => z.url();
const port = () => z.coerce.number().int().min(0).max(65_535);
const list = () =>
  z.string().transform((text) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== ''),
  );

/**
 * Every setting of the service, with its default and its meaning. `docs/settings.md` is generated from this table.
 */
export const SETTINGS = {
  PORT: port().default(3000).describe('Port the API listens on.'),
  HOST: z.string().default('127.0.0.1').describe('Address the API listens on.'),
  BASE_URL: url()
    .optional()
    .describe('Public URL of the API, used in `poll_url`; derived from HOST and PORT when unset.'),
  DATABASE_URL: z
    .string()
    .min(1)
    .describe('Connection string of Postgres. `npm start` and `npm test` start their own server when unset.'),
  REDIS_URL: z
    .string()
    .min(1)
    .describe('Connection string of Redis. `npm start` and `npm test` start their own server when unset.'),
  REDIS_PREFIX: z
    .string()
    .min(1)
    .default('vat')
    .describe('Prefix of all Redis keys, so that several deployments can share one Redis.'),
  DATA_DIR: z.string().default('.data').describe('Directory in which the embedded servers store their files.'),
  SECRET_KEY: z
    .string()
    .min(16, 'at least 16 characters')
    .describe(
      'Master key for webhook secrets, sessions and the development authority; `npm start` creates one and stores it in DATA_DIR.',
    ),
  SECRET_KEY_PREVIOUS: z
    .string()
    .min(16, 'at least 16 characters')
    .optional()
    .describe(
      'Previous SECRET_KEY: decrypts what was encrypted with it, until `admin secrets reseal` has encrypted everything with the current key.',
    ),
  SESSION_IDLE: duration().prefault('12h').describe('A dashboard session ends after this long without use.'),
  SESSION_MAX_AGE: duration()
    .prefault('168h')
    .describe('A dashboard session ends after this long, even when it is in use.'),
  SIGNUP: z.enum(['open', 'closed']).default('closed').describe('`open` allows sign-up on the dashboard.'),
  TRUSTED_PROXIES: list()
    .prefault('')
    .describe(
      'Addresses or CIDRs of reverse proxies whose X-Forwarded-For is trusted, so that sign-ups are counted by the network of the client; none when unset.',
    ),
  VIES_URL: url()
    .default('https://ec.europa.eu/taxation_customs/vies/rest-api')
    .describe('Base URL of the upstream for live keys.'),
  UPSTREAM_WINDOW: duration().prefault('20s').describe('Window: how long a direct check waits for the upstream.'),
  UPSTREAM_ATTEMPT_TIMEOUT: duration().prefault('20s').describe('Time-out of one call to the upstream.'),
  UPSTREAM_RETRY_DELAYS: durations()
    .prefault('500ms,1s,2s,4s,8s')
    .describe('Delays between lookups that got no answer, within the window; the slot is free in the meantime.'),
  BACKPRESSURE_AFTER: duration()
    .prefault('5s')
    .describe('An entry is marked when its lookup waits longer than this for a slot.'),
  BACKGROUND_RETRY_DELAYS: durations()
    .prefault('30s,2m,10m,30m,1h')
    .describe('Delays between lookups in the background; the last one repeats.'),
  BACKGROUND_GIVE_UP_AFTER: duration()
    .prefault('24h')
    .describe('A request without an answer is abandoned this long after it was accepted.'),
  ENRICHMENT_SOURCES: z
    .string()
    .default('all')
    .describe('National sources to call: comma-separated names, `all` or `none`.'),
  ENRICHMENT_PL_WHITE_LIST_URL: url().optional().describe('Overrides the URL of the source pl_white_list.'),
  ENRICHMENT_CZ_ARES_URL: url().optional().describe('Overrides the URL of the source cz_ares.'),
  ENRICHMENT_RO_ANAF_URL: url().optional().describe('Overrides the URL of the source ro_anaf.'),
  ENRICHMENT_FR_RECHERCHE_ENTREPRISES_URL: url()
    .optional()
    .describe('Overrides the URL of the source fr_recherche_entreprises.'),
  ENRICHMENT_FI_PRH_URL: url().optional().describe('Overrides the URL of the source fi_prh.'),
  ENRICHMENT_DE_EVATR_URL: url().optional().describe('Overrides the URL of the source de_evatr.'),
  ENRICHMENT_GLEIF_URL: url().optional().describe('Overrides the URL of the source gleif.'),
  ENRICHMENT_PL_WHITE_LIST_DAILY_SEARCHES: z.coerce
    .number()
    .int()
    .min(0)
    .default(100)
    .describe(
      'Maximum searches of pl_white_list per Polish calendar day, over all workers; each covers up to 30 numbers. The list allows 100 per IP address.',
    ),
  ENRICHMENT_TIMEOUT: duration().prefault('4s').describe('Time-out of one call to a national source.'),
  CONTACT_URL: url()
    .optional()
    .describe('Web or mailto address added to the User-Agent of outgoing calls, for the operators of the upstreams.'),
  WEBHOOK_TIMEOUT: duration()
    .prefault('10s')
    .describe('Time-out of one delivery attempt, including DNS, TLS, headers and body.'),
  WEBHOOK_RETRY_DELAYS: durations()
    .prefault('30s,2m,10m,30m,60m')
    .describe(
      'Delays from the end of a failed delivery attempt to the next one; the delivery has failed when the attempt after the last delay fails.',
    ),
  DELIVERIES_KEPT: duration()
    .prefault('2160h')
    .describe('Ended deliveries and their attempts are deleted from the delivery log after this long.'),
  BATCHES_KEPT: duration()
    .prefault('8760h')
    .describe('Completed batches and their lines are deleted after this long; their checks are not deleted.'),
  TSA_URL: url()
    .optional()
    .describe(
      'URL of the RFC 3161 time-stamping authority; a local development authority, marked as such, when unset.',
    ),
  TSA_ROOTS: z
    .string()
    .optional()
    .describe(
      'PEM text (not a path) of the trusted root certificates of the authority. Required when TSA_URL is not https; otherwise, when unset, the root of its first response is pinned.',
    ),
  TSA_HASH: z
    .enum(['sha256', 'sha384', 'sha512'])
    .prefault('sha256')
    .describe('Hash function for time-stamps of checks, anchors and dossiers.'),
  TSA_RETRY_DELAYS: durations()
    .prefault('10s,1m,5m,15m,1h')
    .describe('Delays from a failed time-stamp request to the next one; the last one repeats.'),
  ANCHOR_EVERY: duration().prefault('1h').describe('How often an anchor is created for the checks that have none yet.'),
  ANCHORS_VERIFIED_EVERY: duration()
    .prefault('24h')
    .describe('How often all anchors are recomputed from their leaves and checks.'),
  EVIDENCE_KEPT: duration()
    .prefault('87660h')
    .describe('Retention of checks and all their evidence (ten years by default); anchors are not deleted.'),
  WEBHOOK_ALLOWED_NETWORKS: z
    .string()
    .optional()
    .describe('CIDRs exempt from the public-address rule of webhooks, for tests and local receivers; none when unset.'),
  WORKER_QUEUES: list()
    .prefault('all')
    .describe(
      'Job types that this worker processes: `checks`, `webhooks`, `batches`, `watches`, `evidence`, `maintenance`, or `all`.',
    ),
  WORKER_MEMBER_STATES: list()
    .prefault('all')
    .describe('Member states for which this worker makes lookups, such as `DE,FR`, or `all`.'),
  WORKERS: z.coerce
    .number()
    .int()
    .min(0)
    .max(64)
    .default(1)
    .describe('Number of worker processes that `npm start` runs, 0 to 64.'),
  AUDIT_EVERY: duration()
    .prefault('1h')
    .describe('How often the usage counters are compared with the rows they count.'),
  RATE_LIMIT: z.coerce
    .number()
    .int()
    .min(1)
    .default(10)
    .describe('Maximum calls of one API key in any second, over all API processes.'),
  SESSION_RATE_LIMIT: z.coerce
    .number()
    .int()
    .min(1)
    .default(50)
    .describe('Maximum calls of one dashboard user in any second, over all API processes.'),
  MAX_CONNECTIONS: z.coerce
    .number()
    .int()
    .min(1)
    .default(10_000)
    .describe('Maximum open connections of one API process; further connections are closed on arrival.'),
  RESPONSE_STALL_TIMEOUT: duration()
    .prefault('60s')
    .describe('A connection is closed when its client reads nothing of the response for this long.'),
  WATCHES_EVERY: duration().prefault('5s').describe('How often the runs of due watches are started.'),
  SWEEP_EVERY: duration().prefault('10s').describe('How often the sweep looks for rows without a job.'),
  OPS_PASSWORD: z
    .string()
    .min(12, 'at least 12 characters')
    .optional()
    .describe(
      'Password of `/ops`, the page that shows the queues: basic auth with any user name. At least 12 characters; the page is off when unset.',
    ),
  LOG_LEVEL: z.enum(['error', 'warn', 'info', 'debug']).default('info').describe('Least severe level that is logged.'),
  METRICS_PORT: port()
    .default(9464)
    .describe('Port of /healthz, /readyz and /metrics of a worker; the next free port when it is taken.'),
} as const satisfies Record<string, z.ZodType>;

export type SettingName = keyof typeof SETTINGS;

/**
 * Settings that hold a secret. Each can be read from the file that NAME_FILE names, since container tools display the
 * environment and every child process inherits it. A new secret setting belongs in this list.
 */
export const SECRET_SETTINGS: readonly SettingName[] = [
  'DATABASE_URL',
  'REDIS_URL',
  'SECRET_KEY',
  'SECRET_KEY_PREVIOUS',
  'OPS_PASSWORD',
];

type Read<K extends SettingName> = { [Name in K]: z.output<(typeof SETTINGS)[Name]> };

/** Thrown when settings are missing or invalid; the message names each one and the expected format. */
export class SettingsError extends Error {
  override name = 'SettingsError';
}

const readOne = (env: Environment, name: SettingName): { value?: unknown; problem?: string } => {
  const given = SECRET_SETTINGS.includes(name) ? readSecretFile(env, name) : { text: env[name] };
  if (given.problem !== undefined) return { problem: given.problem };
  const text = given.text?.trim() === '' ? undefined : given.text;
  const parsed = SETTINGS[name].safeParse(text);
  if (parsed.success) return { value: parsed.data };
  const why = text === undefined ? 'must be set' : parsed.error.issues.map((issue) => issue.message).join(', ');
  return { problem: `${name}: ${why}` };
};

/** Reads the named settings from an environment. An empty value counts as unset. Throws {@link SettingsError}. */
export const readSettings = <K extends SettingName>(env: Environment, names: readonly K[]): Read<K> => {
  const problems = new Set<string>();
  const values = names.map((name) => {
    const { value, problem } = readOne(env, name);
    if (problem !== undefined) problems.add(problem);
    return [name, value];
  });
  if (problems.size > 0) throw new SettingsError(`Settings are wrong. ${[...problems].join('. ')}.`);
  return Object.fromEntries(values) as Read<K>;
};

/** The problems of the settings that an environment has, one line each; for a parent of processes that will read them. */
export const settingProblems = (env: Environment): string[] =>
  (Object.keys(SETTINGS) as SettingName[])
    .filter((name) => [name, `${name}_FILE`].some((variable) => (env[variable] ?? '').trim() !== ''))
    .flatMap((name) => readOne(env, name).problem ?? []);

/**
 * An environment in which NAME holds the content of the file of NAME_FILE, for a program that reads some settings itself. A
 * secret that cannot be read is left unchanged; {@link settingProblems} reports why.
 */
export const withSecretFiles = (env: Environment): Record<string, string | undefined> => {
  const read = SECRET_SETTINGS.flatMap((name) => {
    const given = readSecretFile(env, name);
    return given.problem === undefined && given.text !== undefined ? [[name, given.text] as const] : [];
  });
  const files = new Set(read.map(([name]) => `${name}_FILE`));
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => !files.has(name))),
    ...Object.fromEntries(read),
  };
};
