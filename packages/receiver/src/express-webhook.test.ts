import { createServer, type IncomingMessage, type RequestListener, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { type ExpressWebhookOptions, expressWebhook } from './express-webhook.js';
import { BODY, EVENT_ID, OTHER_SECRET, SECRET, SENT_AT, signedHeaders } from './signed-delivery.fixture.js';
import type { VerifiedDelivery } from './verify.js';

type Answer = { status: number; text: string };
type Receiver = {
  post: (body: string, headers?: Record<string, string>) => Promise<Answer>;
  port: number;
  handled: VerifiedDelivery[];
  errors: unknown[];
};
type Mount = (webhook: ReturnType<typeof expressWebhook>) => RequestListener;

const asItIs: Mount = (webhook) => (incoming, response) => void webhook(incoming, response);

/**
 * Reads the stream first, like a body parser of Express, and stores in the request what `keep` returns for the bytes.
 */
const behindParser =
  (keep: (bytes: Buffer) => object): Mount =>
  (webhook) =>
  async (incoming: IncomingMessage, response: ServerResponse) => {
    await webhook(Object.assign(incoming, keep(await buffer(incoming))), response);
  };

/** Calls the webhook only after the sender has disconnected, like a slow middleware before it. */
const onceGone: Mount = (webhook) => async (incoming: IncomingMessage, response: ServerResponse) => {
  incoming.on('error', () => {});
  await new Promise((resolve) => incoming.on('close', resolve));
  await webhook(incoming, response);
};

/** A real server with the webhook, which is always closed after `use`. */
const withReceiver = async (
  use: (receiver: Receiver) => Promise<void>,
  options: Partial<ExpressWebhookOptions> = {},
  mount = asItIs,
): Promise<void> => {
  const handled: VerifiedDelivery[] = [];
  const errors: unknown[] = [];
  const webhook = expressWebhook({
    secret: SECRET,
    handle: (delivery) => void handled.push(delivery),
    onError: (error) => void errors.push(error),
    now: () => SENT_AT,
    ...options,
  });
  const server = createServer(mount(webhook));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const post = async (body: string, headers = signedHeaders({ body })) => {
    const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, headers });
    return { status: response.status, text: await response.text() };
  };
  try {
    await use({ post, port, handled, errors });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
};

describe('expressWebhook', () => {
  it('reads the stream itself, passes the event to the handler and then answers 204', async () => {
    await withReceiver(async ({ post, handled, errors }) => {
      expect(await post(BODY)).toEqual({ status: 204, text: '' });
      expect(handled).toEqual([expect.objectContaining({ id: EVENT_ID, event: JSON.parse(BODY) })]);
      expect(errors).toEqual([]);
    });
  });

  it('does not answer before the handler has ended', async () => {
    const order: string[] = [];
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const handle = async () => {
      begin();
      await ended;
      order.push('handled');
    };
    await withReceiver(
      async ({ post }) => {
        const answer = post(BODY).then(() => order.push('answered'));
        await begun;
        end();
        await answer;
        expect(order).toEqual(['handled', 'answered']);
      },
      { handle },
    );
  });

  it.each([
    ['bytes, as express.raw() leaves them', (bytes: Buffer) => ({ body: bytes })],
    ['text, as express.text() leaves it', (bytes: Buffer) => ({ body: bytes.toString() })],
    ['bytes beside a parsed body', (bytes: Buffer) => ({ body: JSON.parse(bytes.toString()), rawBody: bytes })],
  ])('uses %s', async (_kind, keep) => {
    const use = async ({ post, handled }: Receiver) => {
      expect((await post(BODY)).status).toBe(204);
      expect(handled).toHaveLength(1);
    };
    await withReceiver(use, {}, behindParser(keep));
  });

  it('answers 500 with advice when a parser consumed the body', async () => {
    const use = async ({ post, handled, errors }: Receiver) => {
      const { status, text } = await post(BODY);
      expect([status, text]).toEqual([500, expect.stringMatching(/^BODY_NOT_RAW: .*before express\.json\(\)$/)]);
      expect(errors).toEqual([expect.objectContaining({ code: 'BODY_NOT_RAW' })]);
      expect(handled).toEqual([]);
    };
    await withReceiver(
      use,
      {},
      behindParser((bytes) => ({ body: JSON.parse(bytes.toString()) })),
    );
  });

  it.each([
    [401, 'SIGNATURE_MISMATCH', signedHeaders({ secret: OTHER_SECRET })],
    [401, 'TIMESTAMP_OUTSIDE_TOLERANCE', signedHeaders({ sentAt: new Date(SENT_AT.getTime() - 301_000) })],
    [400, 'MISSING_HEADER', {}],
    [400, 'MALFORMED_HEADER', { ...signedHeaders(), 'x-service-timestamp': 'soon' }],
  ])('answers %i %s without calling the handler', async (status, code, headers) => {
    await withReceiver(async ({ post, handled, errors }) => {
      const answer = await post(BODY, headers);
      expect([answer.status, answer.text.split(':')[0]]).toEqual([status, code]);
      expect(errors).toEqual([expect.objectContaining({ code })]);
      expect(handled).toEqual([]);
    });
  });

  it('uses the given tolerance', async () => {
    const now = () => new Date(SENT_AT.getTime() + 20_000);
    const statuses: number[] = [];
    for (const tolerance of [10, 30]) {
      await withReceiver(async ({ post }) => void statuses.push((await post(BODY)).status), { tolerance, now });
    }
    expect(statuses).toEqual([401, 204]);
  });

  it('answers 400 to a signed body that is not an event', async () => {
    await withReceiver(async ({ post }) => {
      expect(await post('[]')).toEqual({ status: 400, text: expect.stringMatching(/^INVALID_BODY/) });
    });
  });

  it('answers 500 when the handler throws, so that the service retries, and reports the error only to the receiver', async () => {
    const failure = new Error('the ledger of Alice is locked');
    const use = async ({ post, errors }: Receiver) => {
      expect(await post(BODY)).toEqual({ status: 500, text: expect.not.stringContaining('Alice') });
      expect(errors).toEqual([failure]);
    };
    await withReceiver(use, { handle: () => Promise.reject(failure) });
    await withReceiver(use, {
      handle: () => {
        throw failure;
      },
    });
  });

  it('answers an event that was handled before with 204 and does not handle it again', async () => {
    const seen = new Set<string>();
    const handle = ({ id }: VerifiedDelivery) => void seen.add(id ?? '');
    let handles = 0;
    const use = async ({ post }: Receiver) => {
      expect([(await post(BODY)).status, (await post(BODY)).status]).toEqual([204, 204]);
      expect([...seen]).toEqual([EVENT_ID]);
      expect(handles).toBe(1);
    };
    await withReceiver(use, {
      alreadyHandled: (id) => seen.has(id),
      handle: (delivery) => {
        handles += 1;
        handle(delivery);
      },
    });
  });

  it('answers 500 when alreadyHandled throws', async () => {
    const alreadyHandled = () => Promise.reject(new Error('no database'));
    await withReceiver(
      async ({ post, handled }) => {
        expect((await post(BODY)).status).toBe(500);
        expect(handled).toEqual([]);
      },
      { alreadyHandled },
    );
  });

  it('answers 413 to a body above the limit, and reads one of exactly that size', async () => {
    const body = BODY.padEnd(1000);
    const statuses: number[] = [];
    for (const maxBytes of [1000, 999]) {
      await withReceiver(async ({ post }) => void statuses.push((await post(body)).status), { maxBytes });
    }
    expect(statuses).toEqual([204, 413]);
  });

  it('answers 413 while an endless body is still arriving, and closes the connection', async () => {
    await withReceiver(
      async ({ port, handled }) => {
        const answer = await new Promise((resolve, reject) => {
          const sender = request({ port, host: '127.0.0.1', method: 'POST', headers: signedHeaders() });
          sender.on('response', (response) => {
            resolve([response.statusCode, response.headers.connection]);
            sender.destroy();
          });
          sender.on('error', reject);
          sender.write('x'.repeat(4096));
        });
        expect(answer).toEqual([413, 'close']);
        expect(handled).toEqual([]);
      },
      { maxBytes: 100 },
    );
  });

  it.each([
    ['while it listens', asItIs],
    ['before it listens', onceGone],
  ])('handles nothing when the sender disconnects in the middle of the body, %s', async (_when, mount) => {
    let tell = (_error: unknown) => {};
    const reported = new Promise((resolve) => {
      tell = resolve;
    });
    const use = async ({ port, handled }: Receiver) => {
      const headers = { ...signedHeaders(), 'content-length': String(BODY.length) };
      const sender = request({ port, host: '127.0.0.1', method: 'POST', headers });
      sender.on('error', () => {});
      sender.write(BODY.slice(0, 10), () => sender.destroy());
      expect(await reported).toEqual(expect.objectContaining({ message: expect.stringContaining('disconnected') }));
      expect(handled).toEqual([]);
    };
    await withReceiver(use, { onError: (error) => tell(error) }, mount);
  });
});
