// A program: the upper limit. Sends the same body over keep-alive connections in SENDER_LOOPS loops, without queue, rows and
// signature.
import { Agent, request } from 'node:https';
import { exampleBody } from './example-body.js';

const { SENDER_URLS = '', SENDER_LOOPS = '1', SENDER_COUNT = '0', SENDER_SOCKETS } = process.env;
const urls = SENDER_URLS.split(',').map((url) => new URL(url));
// By default the agent opens a connection whenever none is free, which costs handshakes. SENDER_SOCKETS is the maximum number
// of connections per endpoint.
const agent = new Agent({ keepAlive: true, ...(SENDER_SOCKETS && { maxSockets: Number(SENDER_SOCKETS) }) });
const body = Buffer.from(exampleBody('chk_00000000000000000000000000'));
const headers = { 'content-type': 'application/json', 'content-length': body.byteLength };

const post = (url: URL): Promise<void> =>
  new Promise((resolve, reject) => {
    request(url, { agent, method: 'POST', headers }, (response) => response.resume().once('end', resolve))
      .once('error', reject)
      .end(body);
  });

let left = Number(SENDER_COUNT);
const loop = async (from: number): Promise<void> => {
  for (let n = from; left > 0; n += 1) {
    left -= 1;
    await post(urls[n % urls.length] as URL);
  }
};
process.once('SIGTERM', () => process.exit(0));
process.send?.({});
await Promise.all(Array.from({ length: Number(SENDER_LOOPS) }, (_, n) => loop(n)));
