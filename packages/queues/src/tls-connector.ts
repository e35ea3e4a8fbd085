import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { AbstractConnector, type RedisOptions } from 'ioredis';

type Stream = Awaited<ReturnType<AbstractConnector['connect']>>;

/**
 * Connects with TLS and listens for every error of the socket. One that refused the server's certificate may report a second
 * error, the alert with which the server responds. ioredis listens for the first only, and an error without a listener ends the process.
 */
export class TlsConnector extends AbstractConnector {
  readonly #options: RedisOptions;

  constructor(options: RedisOptions) {
    super(options.disconnectTimeout ?? 0);
    this.#options = options;
  }

  override async connect(): Promise<Stream> {
    const { host, port, family, tls } = this.#options;
    this.connecting = true;
    // The caller may disconnect in the same turn.
    await new Promise((resolve) => process.nextTick(resolve));
    if (!this.connecting) throw new Error('Connection is closed.');
    // Unlike those for HTTPS, `connect` names no host by itself: a server with certificates for several names shows another one, and
    // a proxy that chooses the server by the name closes the connection.
    const servername = host && !isIP(host) ? { servername: host } : {};
    const stream = connect({
      ...{ ...(host && { host }), ...(port && { port }), ...(family && { family }) },
      ...{ ...servername, ...tls },
    });
    stream.once('error', (error) => {
      this.firstError = error;
    });
    stream.on('error', () => undefined);
    this.stream = stream;
    return stream;
  }
}

/** The options of a client with TLS; none without. */
export const tlsOptions = (tls: RedisOptions['tls'] | null): Pick<RedisOptions, 'tls' | 'Connector'> =>
  tls ? { tls, Connector: TlsConnector as unknown as NonNullable<RedisOptions['Connector']> } : {};
