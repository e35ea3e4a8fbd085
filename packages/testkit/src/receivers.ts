import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { uuidOf } from '@vat/domain';
import { listenLocally } from './local-server.js';
import { runAuthority, TRUST_VARIABLE } from './run-authority.js';
import type { World } from './start-world.js';

/** A received delivery. `at`: time in milliseconds (`Date.now`) when its body was complete. */
export type Arrival = { at: number; path: string; headers: IncomingHttpHeaders; body: string };

/** Whether a delivery has the signature of the service with this secret. */
export const isSignedBy = (secret: string, { headers, body }: Arrival): boolean => {
  const message = `${String(headers['x-service-timestamp'])}.${body}`;
  return headers['x-service-signature'] === `sha256=${createHmac('sha256', secret).update(message).digest('hex')}`;
};

/** Answers a delivery, or leaves it unanswered. `n`: the number of earlier deliveries. */
export type Answer = (response: ServerResponse, arrival: Arrival, n: number) => void;

export type TestReceiver = {
  url: string;
  arrivals: Arrival[];
  answer: (answer: Answer) => void;
  open: () => number;
  /** The maximum number of deliveries that were unanswered at one time. */
  maxOpen: () => number;
};

/** Receivers of one test file, with the certificate of the run. */
export type Receivers = {
  /** Settings of a world whose workers trust the receivers and may reach them. */
  settings: Record<string, string>;
  start: (answer?: Answer) => Promise<TestReceiver>;
  close: () => Promise<void>;
};

export const withStatus =
  (status: number): Answer =>
  (response) =>
    void response.writeHead(status).end();

/** Call `close` in `afterAll`. */
export const openReceivers = (): Receivers => {
  const { file, ...identity } = runAuthority();
  const closing: (() => Promise<void>)[] = [];

  const start = async (first: Answer = withStatus(204)): Promise<TestReceiver> => {
    let answer = first;
    let open = 0;
    let maxOpen = 0;
    const arrivals: Arrival[] = [];
    const server = createServer({ ...identity, keepAliveTimeout: 60_000 }, async (request, response) => {
      open += 1;
      maxOpen = Math.max(maxOpen, open);
      response.once('close', () => {
        open -= 1;
      });
      const body = Buffer.concat(await request.toArray()).toString('utf8');
      const arrival = { at: Date.now(), path: request.url ?? '', headers: request.headers, body };
      arrivals.push(arrival);
      answer(response, arrival, arrivals.length - 1);
    });
    server.on('tlsClientError', () => undefined);
    const { host, close } = await listenLocally(server);
    closing.push(close);
    return {
      url: `https://${host}/events`,
      arrivals,
      answer: (next) => {
        answer = next;
      },
      open: () => open,
      maxOpen: () => maxOpen,
    };
  };

  return {
    settings: { [TRUST_VARIABLE]: file, WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' },
    start,
    close: async () => void (await Promise.all(closing.map((close) => close()))),
  };
};

/**
 * Loaded on demand, because most test files with a world have no webhook, and once: jest refuses an import while one of several
 * concurrent tests has ended and none begins.
 */
let sealing: Promise<typeof import('@vat/webhooks')> | undefined;

/** Sets the endpoint of an account (`acc_…`) like the dashboard, and returns the secret that its user would see. */
export const configureWebhook = async (
  world: Pick<World, 'sql' | 'settings'>,
  account: { account_id: string },
  url: string,
): Promise<string> => {
  const accountId = uuidOf('account', account.account_id);
  if (accountId === null) throw new Error(`${account.account_id} is not an account id`);
  sealing ??= import('@vat/webhooks');
  const { newWebhookSecret, sealSecret, secretPrefix } = await sealing;
  const secret = newWebhookSecret();
  const sealed = sealSecret(String(world.settings.SECRET_KEY), accountId, secret);
  await world.sql(
    `INSERT INTO webhook (account_id, url, secret_sealed, secret_prefix, configured_at) VALUES ($1, $2, $3, $4, now())
     ON CONFLICT (account_id) DO UPDATE SET url = excluded.url, secret_sealed = excluded.secret_sealed,
       secret_prefix = excluded.secret_prefix, configured_at = excluded.configured_at`,
    [accountId, url, sealed, secretPrefix(secret)],
  );
  return secret;
};
