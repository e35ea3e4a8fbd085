// @ts-check
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { expressWebhook } from '@vat/receiver';

/**
 * Starts a receiver that verifies and prints every delivery.
 *
 * @param {{ secret: string[], host: string, port: number, tls: { cert: Buffer, key: Buffer } | null, fail: boolean,
 *   print: (line: string) => void }} options `fail`: answer 500 to verified deliveries
 * @returns {Promise<{ url: string, stop: () => void }>}
 */
export const startListener = async ({ secret, host, port, tls, fail, print }) => {
  const seen = new Set();

  /** @param {import('@vat/receiver').VerifiedDelivery} delivery */
  const handle = ({ event, id, deliveryId, sentAt }) => {
    const repeat = id !== null && seen.has(id) ? '  (seen before)' : '';
    seen.add(id);
    print(`\n${time(sentAt)}  verified  ${event.event}  ${id ?? 'no id'}  ${deliveryId ?? ''}${repeat}`);
    print(JSON.stringify(event, null, 2));
    if (fail) throw new Error('answered 500 because of --fail');
  };

  /** @param {unknown} error */
  const onError = (error) => {
    const { code, message } = /** @type {Error & { code?: string }} */ (error);
    print(`\n${time(new Date())}  not accepted  ${code ? `${code}: ` : ''}${message}`);
  };

  const webhook = expressWebhook({ secret, handle, onError });
  const server = tls ? https.createServer(tls, webhook) : http.createServer(webhook);
  server.listen(port, host);
  await once(server, 'listening');
  const { port: taken } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${taken}/`, stop };
};

/** @param {Date} date */
const time = (date) => date.toISOString().slice(11, 19);
