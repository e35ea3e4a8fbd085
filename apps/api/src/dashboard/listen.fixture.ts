import { request } from 'node:http';
import type { Browser } from './browser.fixture.js';

/** A page that listens to /app/api/news. */
export type Listening = {
  status: number;
  headers: Record<string, unknown>;
  /** What came so far, as it came. */
  text: () => string;
  /** The `changed` events so far. */
  news: () => { topic: string; id?: string }[];
  /** True once the server has ended the stream. */
  isOver: () => boolean;
  close: () => void;
};

/** Opens the stream as the pages of a signed-in browser do; resolves when its answer begins. */
export const listen = (baseUrl: string, { cookie }: Pick<Browser, 'cookie'>): Promise<Listening> =>
  new Promise((resolve, reject) => {
    const call = request(`${baseUrl}/app/api/news`, { headers: { cookie, accept: 'text/event-stream' }, agent: false });
    call.once('error', reject);
    call.once('response', (response) => {
      let text = '';
      let isOver = false;
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('close', () => {
        isOver = true;
      });
      response.on('error', () => undefined);
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        text: () => text,
        news: () => [...text.matchAll(/^event: changed\ndata: (.*)\n\n/gm)].map(([, data]) => JSON.parse(String(data))),
        isOver: () => isOver,
        close: () => response.destroy(),
      });
    });
    call.end();
  });
