import { createServer } from 'node:net';
import { newUuid } from '@vat/domain';
import {
  createTestAuthority,
  listenLocally,
  openTcpProxy,
  startSmtpServer,
  type TestSmtpServer,
  until,
} from '@vat/testkit';
import { anyText } from '@vat/testkit/any-text';
import fc from 'fast-check';
import { createMailer, mailFailure, type OutgoingMail } from './create-mailer.js';

const FROM = { name: 'VAT checks', address: 'vat@example.com' };
const TO = 'owner@example.com';
const PASSWORD = 'p@ss: word';

let server: TestSmtpServer;
beforeAll(async () => {
  server = await startSmtpServer();
});
afterAll(() => server?.close());
afterEach(() => server.answer('accept'));

const mailOf = (more: Partial<OutgoingMail> = {}): OutgoingMail => ({
  ...{ to: TO, id: newUuid(), subject: 'Größe', text: 'Plain ü\n', html: '<p>HTML ü</p>' },
  ...more,
});
const never = () => new AbortController().signal;

/** Sends a mail to an address with a mailer of its own; resolves to the failure, or null. */
const trySending = async (url: string, mail = mailOf(), timeoutMs?: number): Promise<string | null> => {
  const mailer = createMailer({ url, from: FROM, ...(timeoutMs !== undefined && { timeoutMs }) });
  try {
    return await mailer.send(mail, never()).then(() => null, mailFailure);
  } finally {
    mailer.close();
  }
};

test('a mail arrives as plain text and HTML, with the headers of mail that programs send', async () => {
  const mail = mailOf({ unsubscribeUrl: `https://vat.example.com/unsubscribe/${'x'.repeat(80)}` });
  expect(await trySending(server.url, mail)).toBeNull();
  const arrived = await until('the mail', () => server.mails.find(({ email }) => email.messageId?.includes(mail.id)));
  expect([arrived.from, arrived.to]).toEqual([FROM.address, [TO]]);
  expect(arrived.email).toMatchObject({ subject: 'Größe', from: FROM, messageId: `<${mail.id}@example.com>` });
  expect(arrived.email.text?.trim()).toBe('Plain ü');
  expect(arrived.email.html?.trim()).toBe('<p>HTML ü</p>');
  const headers = new Map(arrived.email.headers.map(({ key, value }) => [key, value]));
  expect(headers.get('list-unsubscribe')?.trim()).toBe(`<${mail.unsubscribeUrl}>`);
  expect(headers.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
  expect(headers.get('auto-submitted')).toBe('auto-generated');
  expect(headers.get('content-type')).toMatch(/^multipart\/alternative;/);
});

test('no subject adds a header, a recipient or a part', async () => {
  const mailer = createMailer({ url: server.url, from: FROM });
  const names = ['from', 'to', 'message-id', 'auto-submitted', 'date', 'mime-version', 'content-type'];
  const hostile = anyText({ minLength: 1, maxLength: 60 }).map((text) => `A\r\nBcc: x@y.example${text}\r\n\r\n<b>`);
  try {
    await fc.assert(
      fc.asyncProperty(fc.oneof(hostile, anyText({ minLength: 1, maxLength: 60 })), async (subject) => {
        const mail = mailOf({ subject });
        await mailer.send(mail, never());
        const arrived = server.mails.find(({ email }) => email.messageId?.includes(mail.id));
        expect(arrived?.to).toEqual([TO]);
        const keys = arrived?.email.headers.map(({ key }) => key) ?? [];
        // A subject of blanks has no header.
        const subjects = keys.filter((key) => key === 'subject').length;
        expect(subjects).toBeLessThanOrEqual(1);
        if (/[\p{L}\p{N}]/u.test(subject)) expect(subjects).toBe(1);
        expect(keys.filter((key) => key !== 'subject').toSorted()).toEqual(names.toSorted());
        expect(arrived?.email.text?.trim()).toBe('Plain ü');
      }),
      { numRuns: 100 },
    );
  } finally {
    mailer.close();
  }
});

test.each(['a@b.example, c@d.example', 'A <a@b.example>', 'a@b.example\r\nBcc: c@d.example', 'a', ''])(
  'an address that is not exactly one, %j, is refused before the server is called',
  async (to) => {
    const before = server.mails.length;
    expect(await trySending(server.url, mailOf({ to }))).toBe('EADDRESS');
    expect(server.mails).toHaveLength(before);
  },
);

test('a refusal is described by its status, without what the server says', async () => {
  server.answer(450);
  expect(await trySending(server.url)).toBe('EENVELOPE 450 RCPT TO');
  server.answer(550);
  expect(await trySending(server.url)).toBe('EENVELOPE 550 RCPT TO');
});

test('a server that is away, answers nothing or breaks off fails within the deadline, and the mail is not sent twice', async () => {
  expect(await trySending('smtp://127.0.0.1:1')).toBe('ESOCKET CONN');
  const proxy = await openTcpProxy({ to: server.url });
  try {
    proxy.freeze();
    expect(await trySending(proxy.through(server.url), mailOf(), 300)).toMatch(/^ETIMEDOUT/);
    proxy.thaw();
    proxy.slow({ latencyMs: 50 });
    const before = server.mails.length;
    const sending = trySending(proxy.through(server.url), mailOf(), 2_000);
    await until('the connection', () => proxy.counts().bytes > 100);
    proxy.cut();
    expect(await sending).toMatch(/^E[A-Z]+/);
    expect(server.mails).toHaveLength(before);
  } finally {
    await proxy.close();
  }
});

test('a server that answers a step line by line, without end, fails within the deadline of all steps', async () => {
  const slow = createServer((socket) => {
    const lines = setInterval(() => socket.write('250-more\r\n'), 20);
    socket.on('error', () => undefined).on('close', () => clearInterval(lines));
    socket.write('220 slow.example\r\n');
  });
  const local = await listenLocally(slow);
  try {
    expect(await trySending(local.url.replace('http:', 'smtp:'), mailOf(), 100)).toMatch(/^EABORT/);
  } finally {
    await local.close();
  }
});

test('what a stopping process breaks off rejects at once', async () => {
  const proxy = await openTcpProxy({ to: server.url });
  const mailer = createMailer({ url: proxy.through(server.url), from: FROM, timeoutMs: 500 });
  try {
    proxy.freeze();
    const stop = new AbortController();
    const sending = mailer.send(mailOf(), stop.signal);
    stop.abort();
    await expect(sending).rejects.toMatchObject({ name: 'AbortError' });
    await expect(mailer.send(mailOf(), stop.signal)).rejects.toMatchObject({ name: 'AbortError' });
  } finally {
    mailer.close();
    await proxy.close();
  }
});

test('a password is sent over an encrypted connection only', async () => {
  const user = `user:${encodeURIComponent(PASSWORD)}@`;
  // A server without STARTTLS.
  expect(await trySending(server.url.replace('://', `://${user}`))).toMatch(/^ETLS/);
  expect(server.passwords).toEqual([]);
  // One whose certificate nobody trusts.
  const authority = await createTestAuthority();
  const secure = await startSmtpServer({ identity: await authority.issue({ ip: ['127.0.0.1'] }) });
  try {
    const failure = await trySending(secure.url.replace('://', `://${user}`));
    expect(failure).not.toBeNull();
    expect([secure.passwords, secure.mails]).toEqual([[], []]);
    // Without one, as a relay in one's own network.
    expect(await trySending(secure.url)).toBeNull();
    expect(secure.mails).toHaveLength(1);
  } finally {
    await secure.close();
  }
});
