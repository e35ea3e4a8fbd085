import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';

/** A mail as the server accepted it. `email`: its parts and headers, decoded. */
export type ArrivedMail = { from: string; to: string[]; raw: string; email: Email };

/** How the server treats recipients: accepts them, or answers with a status. */
type Answer = 'accept' | 450 | 550;

/** A mail server on loopback that records what it accepts. For a server that hangs or breaks off, put a TcpProxy before it. */
export type TestSmtpServer = {
  url: string;
  mails: ArrivedMail[];
  /** Passwords that clients sent. */
  passwords: string[];
  answer: (answer: Answer) => void;
  /** The recipients that were refused. */
  refused: () => number;
  close: () => Promise<void>;
};

type Options = {
  /** With it the server offers STARTTLS and authentication. */
  identity?: { key: string; cert: string };
};

/** Starts a mail server. Call `close` in `afterAll`. */
export const startSmtpServer = async ({ identity }: Options = {}): Promise<TestSmtpServer> => {
  const mails: ArrivedMail[] = [];
  const passwords: string[] = [];
  let current: Answer = 'accept';
  let refused = 0;
  const server = new SMTPServer({
    ...identity,
    authOptional: true,
    // The port is plain; without an identity there is nothing to switch to.
    disabledCommands: identity ? [] : ['STARTTLS', 'AUTH'],
    disableReverseLookup: true,
    closeTimeout: 100,
    onAuth: ({ username, password }, _session, done) => {
      passwords.push(password ?? '');
      done(null, { user: username });
    },
    onRcptTo: ({ address }, _session, done) => {
      if (current === 'accept') return done();
      refused += 1;
      done(Object.assign(new Error(`<${address}> is refused`), { responseCode: current }));
    },
    onData: (stream, { envelope }, done) => {
      const receive = async () => {
        const raw = Buffer.concat(await stream.toArray()).toString('latin1');
        const email = await PostalMime.parse(Buffer.from(raw, 'latin1'));
        const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
        mails.push({ from, to: envelope.rcptTo.map(({ address }) => address), raw, email });
      };
      receive().then(() => done(), done);
    },
  });
  // Clients close connections by design.
  server.on('error', () => undefined);
  const listener = server.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    url: `smtp://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    mails,
    passwords,
    answer: (answer) => {
      current = answer;
    },
    refused: () => refused,
    close: () => new Promise((resolve) => server.close(resolve)),
  };
};
