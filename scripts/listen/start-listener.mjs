// @ts-check
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import path from 'node:path';
import { certificatePem, issueCertificate, privateKeyPem, serverNames } from '@vat/evidence/proof';
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

const TEN_YEARS_MS = 3_650 * 86_400_000;

/**
 * A self-signed certificate for localhost, 127.0.0.1 and ::1. It is made once and stored, so that a running worker still
 * trusts it (by NODE_EXTRA_CA_CERTS, which is read at its start).
 *
 * @param {string} folder created if it does not exist
 * @returns {{ cert: string, key: string }} paths of PEM files
 */
export const makeCertificate = (folder) => {
  const [cert, key] = [path.join(folder, 'cert.pem'), path.join(folder, 'key.pem')];
  if (existsSync(cert) && existsSync(key)) return { cert, key };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const now = Date.now();
  const made = issueCertificate({
    ...{ subject: 'localhost', issuer: null, from: new Date(now), to: new Date(now + TEN_YEARS_MS) },
    extensions: [serverNames({ dns: ['localhost'], ip: ['127.0.0.1', '::1'] })],
  });
  writeFileSync(cert, certificatePem(made.certificate));
  writeFileSync(key, privateKeyPem(made.key), { mode: 0o600 });
  return { cert, key };
};
