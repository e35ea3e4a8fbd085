import { z } from 'zod';
import {
  address,
  certificates,
  contactAddress,
  count,
  duration,
  durations,
  interval,
  list,
  mailbox,
  mailServer,
  postgresAddress,
  proxyAddress,
  redisUrl,
  retention,
  setting,
  timeLimit,
  timer,
} from './setting-formats.js';

const masterKey = () => z.string().min(16, 'at least 16 characters');
const sourceUrl = (source: string) =>
  setting(['worker', 'admin'], address('https', 'http').optional(), `Overrides the URL of the source ${source}.`);

/** Every setting of the service. `docs/settings.md` and what each program reads derive from this table. */
export const SETTINGS = {
  PORT: setting(['api', 'worker', 'stack'], count(0, 65_535).default(3000), 'Port the API listens on.', {
    stack: count(1, 65_535).default(3000),
  }),
  HOST: setting(
    ['api', 'worker', 'stack'],
    z.string().default('127.0.0.1'),
    'Address the API listens on, and a worker for METRICS_PORT.',
  ),
  BASE_URL: setting(
    ['api', 'worker', 'stack'],
    address('https', 'http').optional(),
    'Public URL of the service, used in `poll_url`, public links, invitations and e-mail; derived from HOST and PORT when unset.',
  ),
  DATABASE_URL: setting(
    ['api', 'worker', 'admin', 'stack'],
    postgresAddress(),
    'Connection string of Postgres, or of a pooler such as PgBouncer in transaction mode. `npm start` and `npm test` start their own server when unset.',
    { secret: true, stack: postgresAddress().optional() },
  ),
  SLOTS_DATABASE_URL: setting(
    ['worker'],
    postgresAddress().optional(),
    'Direct connection to the same database, for the slots of member states alone; required when DATABASE_URL leads to a pooler. DATABASE_URL when unset.',
    { secret: true },
  ),
  DATABASE_CONNECTIONS: setting(
    ['api', 'worker'],
    // The tasks of a worker can hold seven at once, for their locks, while their statements take others (runAlone, closeAlone).
    count(0, 1_000)
      .min(8, 'write at least 8: with fewer, the tasks of a worker wait for connections that they hold')
      .default(20),
    'Maximum connections of one process to DATABASE_URL, 8 to 1 000. An API process opens three more for exports, a worker one for slots.',
  ),
  REDIS_URL: setting(
    ['api', 'worker', 'admin', 'stack'],
    redisUrl(),
    'Address of Redis: `redis://…`, `redis-sentinel://…/MASTER/DB` or `redis-cluster://…`, and `rediss…` for TLS; see [operations.md](operations.md#redis). `npm start` and `npm test` start their own server when unset.',
    { secret: true, stack: redisUrl().optional() },
  ),
  REDIS_CA: setting(
    ['api', 'worker', 'admin', 'stack'],
    certificates().optional(),
    'PEM file of the authority that signed the certificates of Redis, for a REDIS_URL with TLS; those that Node trusts when unset.',
  ),
  REDIS_PREFIX: setting(
    ['api', 'worker', 'admin', 'stack'],
    z
      .string()
      .regex(/^(?!.*\{\}).+$/, 'must not contain {}, which would separate the keys of a queue in a cluster')
      .default('vat'),
    'Prefix of all Redis keys, so that several deployments can share one Redis.',
  ),
  DATA_DIR: setting(
    ['stack'],
    z.string().default('.data'),
    'Directory in which the embedded servers store their files.',
  ),
  SECRET_KEY: setting(
    ['api', 'worker', 'admin', 'stack'],
    masterKey(),
    'Master key for webhook secrets, CSRF tokens, public links and the development authority; `npm start` creates one and stores it in DATA_DIR.',
    { secret: true, stack: masterKey().optional() },
  ),
  SECRET_KEY_PREVIOUS: setting(
    ['api', 'worker', 'admin'],
    masterKey().optional(),
    'Previous SECRET_KEY: decrypts what was encrypted with it, until `admin secrets reseal` has encrypted everything with the current key.',
    { secret: true },
  ),
  SESSION_IDLE: setting(
    ['api'],
    duration({ minMs: 1 }).prefault('12h'),
    'A dashboard session ends after this long without use.',
  ),
  SESSION_MAX_AGE: setting(
    ['api'],
    duration({ minMs: 1 }).prefault('168h'),
    'A dashboard session ends after this long, even when it is in use.',
  ),
  SIGNUP: setting(['api'], z.enum(['open', 'closed']).default('closed'), '`open` allows sign-up on the dashboard.'),
  TRUSTED_PROXIES: setting(
    ['api'],
    list().prefault(''),
    'Addresses or CIDRs of reverse proxies whose X-Forwarded-For is trusted, so that sign-ins, sign-ups and reads of public links are counted by the network of the client; none when unset.',
  ),
  VIES_URL: setting(
    ['worker', 'admin'],
    address('https', 'http').default('https://ec.europa.eu/taxation_customs/vies/rest-api'),
    'Base URL of the upstream for live keys.',
  ),
  UPSTREAM_WINDOW: setting(
    ['api', 'worker', 'admin'],
    timer().prefault('20s'),
    'Window: how long a direct check waits for the upstream.',
  ),
  // The slots of a worker that stands still are in use for eight seconds longer than this, and for a minute at most.
  UPSTREAM_ATTEMPT_TIMEOUT: setting(
    ['worker'],
    timeLimit()
      .refine((ms) => ms <= 50_000, 'write at most 50s')
      .prefault('20s'),
    'Time-out of one call to the upstream, at most 50s.',
  ),
  UPSTREAM_RETRY_DELAYS: setting(
    ['api', 'worker'],
    durations().prefault('500ms,1s,2s,4s,8s'),
    'Delays between lookups that got no answer, within the window; the slot is free in the meantime.',
  ),
  BACKPRESSURE_AFTER: setting(
    ['api', 'worker'],
    timer().prefault('5s'),
    'An entry is marked when its lookup waits longer than this for a slot.',
  ),
  BACKGROUND_RETRY_DELAYS: setting(
    ['api', 'worker'],
    durations().prefault('30s,2m,10m,30m,1h'),
    'Delays between lookups in the background; the last one repeats.',
  ),
  PROBE_DELAYS: setting(
    ['worker'],
    durations().prefault('5s,10s,20s,40s,60s'),
    'After five lookups in a row without an answer a member state is looked up only this often, over all workers, until one is answered; the last delay repeats.',
  ),
  BACKGROUND_GIVE_UP_AFTER: setting(
    ['api', 'worker'],
    duration().prefault('24h'),
    'A request without an answer is abandoned this long after its first lookup.',
  ),
  ENRICHMENT_SOURCES: setting(
    ['worker', 'admin'],
    z.string().default('all'),
    'National sources to call: comma-separated names, `all` or `none`.',
  ),
  ENRICHMENT_PL_WHITE_LIST_URL: sourceUrl('pl_white_list'),
  ENRICHMENT_CZ_ARES_URL: sourceUrl('cz_ares'),
  ENRICHMENT_RO_ANAF_URL: sourceUrl('ro_anaf'),
  ENRICHMENT_FR_RECHERCHE_ENTREPRISES_URL: sourceUrl('fr_recherche_entreprises'),
  ENRICHMENT_FI_PRH_URL: sourceUrl('fi_prh'),
  ENRICHMENT_DE_EVATR_URL: sourceUrl('de_evatr'),
  ENRICHMENT_GLEIF_URL: sourceUrl('gleif'),
  ENRICHMENT_PL_WHITE_LIST_DAILY_SEARCHES: setting(
    ['worker', 'admin'],
    count(0).default(100),
    'Maximum searches of pl_white_list per Polish calendar day, over all workers; each covers up to 30 numbers. The list allows 100 per IP address.',
  ),
  ENRICHMENT_TIMEOUT: setting(['worker'], timeLimit().prefault('4s'), 'Time-out of one call to a national source.'),
  CONTACT_URL: setting(
    ['api', 'worker', 'admin'],
    contactAddress().optional(),
    'Web or mailto address added to the User-Agent of outgoing calls, for the operators of the upstreams.',
  ),
  EGRESS_PROXY: setting(
    ['api', 'worker', 'admin'],
    proxyAddress().optional(),
    'Proxy (`http://`, with user info if it needs a password) for calls to VIES, national sources and TSA_URL; deliveries to webhooks never use it.',
    { secret: true },
  ),
  SMTP_URL: setting(
    ['api', 'worker'],
    mailServer().optional(),
    'Mail server for e-mail notifications: `smtps://user:password@host`, or `smtp://`, which uses STARTTLS where the server offers it and requires it to send a password. Set it together with MAIL_FROM; no mail is sent when both are unset. See [operations.md](operations.md#e-mail).',
    { secret: true },
  ),
  MAIL_FROM: setting(
    ['api', 'worker'],
    mailbox().optional(),
    'Sender of e-mail notifications, such as `VAT checks <vat@example.com>`. Set it together with SMTP_URL.',
  ),
  WEBHOOK_TIMEOUT: setting(
    ['worker'],
    timeLimit().prefault('10s'),
    'Time-out of one delivery attempt, including DNS, TLS, headers and body.',
  ),
  WEBHOOK_RETRY_DELAYS: setting(
    ['worker'],
    durations().prefault('30s,2m,10m,30m,60m'),
    'Delays from the end of a failed delivery attempt to the next one; the delivery has failed when the attempt after the last delay fails.',
  ),
  DELIVERIES_KEPT: setting(
    ['worker'],
    retention().prefault('2160h'),
    'Ended deliveries and their attempts are deleted from the delivery log after this long, at least `24h`; from 62 days on by whole months.',
  ),
  BATCHES_KEPT: setting(
    ['worker'],
    retention().prefault('8760h'),
    'Completed batches and their lines are deleted after this long, at least `24h`; their checks are not deleted.',
  ),
  TSA_URL: setting(
    ['api', 'worker', 'admin'],
    address('https', 'http').optional(),
    'URL of the RFC 3161 time-stamping authority, with user info if it needs a password; a local development authority, marked as such, when unset.',
    { secret: true },
  ),
  TSA_ROOTS: setting(
    ['api', 'worker', 'admin'],
    z.string().optional(),
    'PEM text (not a path) of the trusted root certificates of the authority. Required when TSA_URL is not https; otherwise, when unset, the root of its first response is pinned.',
  ),
  TSA_HASH: setting(
    ['api', 'worker', 'admin'],
    z.enum(['sha256', 'sha384', 'sha512']).prefault('sha256'),
    'Hash function for time-stamps of checks, anchors and dossiers.',
  ),
  TSA_RETRY_DELAYS: setting(
    ['api', 'worker'],
    durations().prefault('10s,1m,5m,15m,1h'),
    'Delays from a failed time-stamp request to the next one; the last one repeats.',
  ),
  ANCHOR_EVERY: setting(
    ['api', 'worker'],
    interval().prefault('1h'),
    'How often an anchor is created for the checks that have none yet.',
  ),
  ANCHORS_VERIFIED_EVERY: setting(
    ['worker'],
    interval().prefault('24h'),
    'How often all anchors are recomputed from their leaves and checks.',
  ),
  EVIDENCE_KEPT: setting(
    ['worker'],
    retention().prefault('87660h'),
    'Retention of checks, all their evidence and coverages (ten years by default), at least `24h`, from 62 days on by whole months; anchors are not deleted.',
  ),
  WEBHOOK_ALLOWED_NETWORKS: setting(
    ['api', 'worker'],
    z.string().optional(),
    'CIDRs exempt from the public-address rule of webhooks, for tests and local receivers; none when unset.',
  ),
  WORKER_QUEUES: setting(
    ['worker'],
    list().prefault('all'),
    'Job types that this worker processes: `checks`, `webhooks`, `batches`, `watches`, `evidence`, `mail`, `maintenance`, or `all`.',
  ),
  WORKER_MEMBER_STATES: setting(
    ['worker'],
    list().prefault('all'),
    'Member states for which this worker makes lookups, such as `DE,FR`, or `all`.',
  ),
  WORKERS: setting(['stack'], count(0, 64).default(1), 'Number of worker processes that `npm start` runs, 0 to 64.'),
  AUDIT_EVERY: setting(
    ['worker'],
    interval().prefault('1h'),
    'How often the usage counters are compared with the rows they count.',
  ),
  RATE_LIMIT: setting(
    ['api'],
    count(1).default(10),
    'Maximum calls of one API key in any second, over all API processes.',
  ),
  SESSION_RATE_LIMIT: setting(
    ['api'],
    count(1).default(50),
    'Maximum calls of one dashboard user in any second, over all API processes.',
  ),
  MAX_CONNECTIONS: setting(
    ['api'],
    count(1).default(10_000),
    'Maximum open connections of one API process; further connections are closed on arrival.',
  ),
  RESPONSE_STALL_TIMEOUT: setting(
    ['api'],
    timeLimit().prefault('60s'),
    'A connection is closed when its client reads nothing of the response for this long.',
  ),
  WATCHES_EVERY: setting(['worker'], interval().prefault('5s'), 'How often the runs of due watches are started.'),
  SWEEP_EVERY: setting(['worker'], interval().prefault('10s'), 'How often the sweep looks for rows without a job.'),
  OPS_PASSWORD: setting(
    ['api'],
    z.string().min(12, 'at least 12 characters').optional(),
    'Password of `/ops`, the page that shows the queues: basic auth with any user name. At least 12 characters; the page is off when unset.',
    { secret: true },
  ),
  SHUTDOWN_DELAY: setting(
    ['api'],
    timer().prefault('0s'),
    'How long a stopping API process still accepts connections while `/readyz` answers 503, so that load balancers stop using it; longer than their health checks take to notice.',
  ),
  PUBLIC_STATUS: setting(
    ['api'],
    z.enum(['on', 'off']).default('on'),
    '`off` turns off `/status` and `/status.json`, which show the availability of the member states without a key.',
  ),
  PUBLIC_VERIFICATION: setting(
    ['api'],
    z.enum(['on', 'off']).default('on'),
    '`off` turns off the public links of checks: pages below `/verify` that show and verify one check without an account; see [evidence.md](evidence.md#the-public-link).',
  ),
  LOG_LEVEL: setting(
    ['api', 'worker'],
    z.enum(['error', 'warn', 'info', 'debug']).default('info'),
    'Least severe level that is logged.',
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: setting(
    ['api', 'worker'],
    address('https', 'http').optional(),
    'Base address of an OpenTelemetry collector that receives traces over OTLP/HTTP at `/v1/traces`; no traces when unset. See [operations.md](operations.md#traces).',
  ),
  METRICS_PORT: setting(
    ['worker', 'stack'],
    count(0, 65_535).default(9464),
    'Port of /healthz, /readyz and /metrics of a worker; the next free port when it is taken.',
    { stack: count(1, 65_000).default(9464) },
  ),
} as const;

export type SettingName = keyof typeof SETTINGS;
