import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type Answer, decode, encode } from 'dns-packet';

/** The answer for a name; `silent` is no answer at all, `failing` is SERVFAIL. */
export type Zone = { a?: string[]; aaaa?: string[] } | 'silent' | 'failing';

/** A DNS server on loopback. It reads `zones` at each query, so that a test can change them. */
export type LocalDns = {
  server: string;
  zones: Map<string, Zone>;
  /** The queried names, one entry for each query. */
  queries: string[];
  close: () => Promise<void>;
};

const SERVFAIL = 2;
const NXDOMAIN = 3;

/** Starts a server; a name without a zone does not exist. */
export const startLocalDns = async (): Promise<LocalDns> => {
  const socket = createSocket('udp4');
  const zones = new Map<string, Zone>();
  const queries: string[] = [];
  socket.on('message', (message, { port, address }) => {
    const query = decode(message);
    const question = query.questions?.[0];
    if (!question) return;
    const name = question.name.toLowerCase();
    queries.push(name);
    const zone = zones.get(name);
    if (zone === 'silent') return;

    const known = zone === undefined || zone === 'failing' ? {} : zone;
    const values = (question.type === 'A' ? known.a : question.type === 'AAAA' ? known.aaaa : undefined) ?? [];
    const answers = values.map((data) => ({ type: question.type, name: question.name, ttl: 300, data })) as Answer[];
    const rcode = zone === undefined ? NXDOMAIN : zone === 'failing' ? SERVFAIL : 0;
    const reply = encode({
      type: 'response',
      id: query.id ?? 0,
      flags: 0x0180 | rcode,
      questions: [question],
      answers,
    });
    socket.send(reply, port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const close = async () => {
    const closed = once(socket, 'close');
    socket.close();
    await closed;
  };
  return { server: `127.0.0.1:${socket.address().port}`, zones, queries, close };
};
