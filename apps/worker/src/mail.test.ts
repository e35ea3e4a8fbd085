import {
  type ArrivedMail,
  configureWebhook,
  numberOf,
  numberSequence,
  openReceivers,
  openTcpProxy,
  openWorldRedis,
  type Receivers,
  runAuthority,
  startSmtpServer,
  startWorld,
  type TcpProxy,
  type TestAccount,
  type TestSmtpServer,
  until,
  uploadBatch,
  type World,
  withStatus,
} from '@vat/testkit';

const PASSWORD = 'p@ss: of the mail server';

let receivers: Receivers;
let server: TestSmtpServer;
let proxy: TcpProxy;
let world: World;
beforeAll(async () => {
  receivers = openReceivers();
  server = await startSmtpServer({ identity: runAuthority() });
  proxy = await openTcpProxy({ to: server.url });
  world = await startWorld({
    workers: 0,
    settings: {
      ...receivers.settings,
      SMTP_URL: proxy.through(server.url).replace('://', `://vat:${encodeURIComponent(PASSWORD)}@`),
      MAIL_FROM: 'VAT checks <vat@example.com>',
      SWEEP_EVERY: '300ms',
      WEBHOOK_RETRY_DELAYS: '100ms',
      LOG_LEVEL: 'debug',
    },
  });
  await world.startWorker({ BASE_URL: world.baseUrl() });
});
afterAll(async () => {
  proxy?.thaw();
  await world?.stop();
  await Promise.all([proxy?.close(), receivers?.close()]);
  await server?.close();
});

type Owner = TestAccount & { email: string };
let owners = 0;
const nextNumber = numberSequence();

const owner = async (options: { quota?: string } = {}): Promise<Owner> => {
  owners += 1;
  const email = `owner-${owners}@example.com`;
  return { ...(await world.newAccount({ ...options, email, name: `Acme <${owners}>` })), email };
};
const wantAll = ({ email }: Owner) =>
  world.sql(
    "UPDATE app_user SET mail_kinds = '{failed_deliveries,quota,completed_batches,watch_changes}' WHERE email = $1",
    [email],
  );
const mailsTo = ({ email }: Owner): ArrivedMail[] => server.mails.filter(({ to }) => to.includes(email));
const mailOf = (of: Owner, subject: string): Promise<ArrivedMail> =>
  until(`the mail "${subject}"`, () => mailsTo(of).find(({ email }) => email.subject === subject));
const mailRows = ({ email }: Owner) =>
  world.sql<{ kind: string; state: string; attempts: number; last_error: string | null; leased: boolean }>(
    `SELECT m.kind, m.state, m.attempts, m.last_error, m.next_attempt_at > now() + interval '1 minute' AS leased
     FROM mail m JOIN app_user u ON u.id = m.user_id WHERE u.email = $1 ORDER BY m.created_at`,
    [email],
  );
const check = async ({ live_key: key }: TestAccount): Promise<void> => {
  await world
    .http(key)
    .post('/v1/checks', { vat_number: nextNumber('DE') })
    .expect(201);
};
const upload = async ({ live_key: key }: TestAccount): Promise<string> => {
  const { body } = await uploadBatch(world, `vat_number\n${nextNumber('FR')}\n`, {
    ...{ key, fileName: 'file.csv' },
  });
  return String(body.batch_id);
};
const unsubscribeUrlOf = ({ email }: ArrivedMail): string =>
  String(/<(.+)>/.exec(email.headers.find(({ key }) => key === 'list-unsubscribe')?.value ?? '')?.[1]);

test('the quota: 80 % and 100 % once each, the second one not before an hour after the first', async () => {
  const of = await owner({ quota: '5' });
  for (let n = 0; n < 4; n += 1) await check(of);
  const month = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(new Date());
  const first = await mailOf(of, `80% of the checks of ${month} are used`);
  expect(first.email.text).toContain('4 of 5 checks are used');
  expect(first.email.html).toContain('Acme &lt;');
  expect(first.email.text).toContain(`View usage: ${world.baseUrl()}/app`);
  await check(of);
  await until('the second share to be found', async () => {
    const [waiting] = await world.sql(
      'SELECT 1 FROM mail_item i JOIN app_user u ON u.id = i.user_id WHERE u.email = $1',
      [of.email],
    );
    return waiting;
  });
  // Several runs of the task find it and let it wait.
  const runs = async () => (await world.sql<{ n: number }>('SELECT count(*)::int AS n FROM mail'))[0]?.n ?? 0;
  const other = await owner({ quota: '1' });
  const before = await runs();
  await check(other);
  await mailOf(other, `All checks of ${month} are used`);
  expect(await runs()).toBe(before + 1);
  expect(mailsTo(of)).toHaveLength(1);
  await world.sql(
    "UPDATE mail SET ended_at = ended_at - interval '1 hour' WHERE user_id = (SELECT id FROM app_user WHERE email = $1)",
    [of.email],
  );
  await mailOf(of, `All checks of ${month} are used`);
  expect(mailsTo(of)).toHaveLength(2);
});

test('an invitation is mailed with its link, which opens the account', async () => {
  const of = await owner();
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(`${world.baseUrl()}/app/api${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const signedIn = await post('/session', { email: of.email, password: 'correct horse' });
  const { csrf_token } = (await signedIn.json()) as { csrf_token: string };
  const session = { cookie: signedIn.headers.get('set-cookie')?.split(';')[0] ?? '', 'x-csrf-token': csrf_token };
  const email = `invited-${owners}@example.com`;
  const answer = await post('/invitations', { email, role: 'auditor' }, session);
  const invited = (await answer.json()) as { url: string; mailed: boolean };
  expect(invited.mailed).toBe(true);
  const mail = await mailOf({ ...of, email }, `You are invited to Acme <${owners}>`);
  expect(mail.email.text).toContain(`${of.email} invites you to the account Acme <${owners}>`);
  expect(mail.email.text).toContain(invited.url);
  const token = invited.url.split('#')[1] ?? '';
  expect(world.workers.flatMap((worker) => worker.lines()).filter((line) => line.includes(token))).toEqual([]);
  expect((await post('/invitation/accept', { token, password: 'a few words more' })).status).toBe(201);
});

test('failed deliveries, completed batches and changes of watches, with links to their pages', async () => {
  const of = await owner();
  await wantAll(of);
  const receiver = await receivers.start(withStatus(500));
  await configureWebhook(world, of, receiver.url);
  const batch = await upload(of);
  const completed = await mailOf(of, 'Batch file.csv is complete');
  expect(completed.email.text).toContain('1 line, 1 valid, 0 not valid, 0 failed');
  expect(completed.email.text).toContain(`${world.baseUrl()}/app/batches/${batch}`);
  const failed = await mailOf(of, 'A webhook delivery failed');
  expect(failed.email.text).toMatch(/- batch\.completed: HTTP 500, last attempt /);
  expect(failed.email.text).toMatch(/\/app\/deliveries\/dlv_[0-9a-z]{26}\n/);

  const vatNumber = numberOf('PT', 1);
  const http = world.http(of.live_key);
  const { body: watch } = await http.post('/v1/watches', { vat_number: vatNumber, frequency: 'daily' }).expect(201);
  await world.admin('watch', 'run', watch.watch_id);
  const lastCheck = async () => (await http.get(`/v1/watches/${watch.watch_id}`)).body.last_checked_at;
  const baseline = await until('the baseline', lastCheck);
  await world.vies.script(vatNumber, [{ kind: 'invalid' }]);
  await world.admin('watch', 'run', watch.watch_id);
  await until('the second check', async () => (await lastCheck()) !== baseline);
  const changed = await mailOf(of, `${vatNumber} is no longer valid`);
  expect(changed.email.text).toContain(`${world.baseUrl()}/app/watches/${watch.watch_id}`);

  expect((await mailRows(of)).map(({ kind }) => kind).toSorted()).toEqual([
    'completed_batches',
    'failed_deliveries',
    'watch_changes',
  ]);
});

test('a mail waits for a server that is away, and arrives once when it is back', async () => {
  const of = await owner({ quota: '1' });
  await proxy.refuse();
  proxy.cut();
  await check(of);
  await until('an attempt', async () => /^E[A-Z]+ /.test((await mailRows(of))[0]?.last_error ?? ''));
  await proxy.accept();
  await until('the mail', async () => (await mailRows(of))[0]?.state === 'sent');
  expect(mailsTo(of)).toHaveLength(1);
});

test('a mail server that hangs delays neither checks nor batches nor deliveries', async () => {
  const of = await owner({ quota: '1' });
  proxy.freeze();
  try {
    await check(of);
    await until('the mail to be under way', async () => (await mailRows(of))[0]?.leased);
    const busy = await owner();
    const receiver = await receivers.start();
    await configureWebhook(world, busy, receiver.url);
    await Promise.all(Array.from({ length: 5 }, () => check(busy)));
    await upload(busy);
    await until('batch.completed to arrive', () => receiver.arrivals.length === 1);
    expect(await mailRows(of)).toMatchObject([{ state: 'pending', attempts: 1, leased: true }]);
  } finally {
    proxy.thaw();
  }
  await until('the mail', () => mailsTo(of).length === 1);
});

test('the link at the end turns one kind off: GET shows a question, POST does it without a session, another token does nothing', async () => {
  const of = await owner({ quota: '2' });
  await wantAll(of);
  await check(of);
  await check(of);
  const mail = await until('the mail', () => mailsTo(of)[0]);
  const url = new URL(unsubscribeUrlOf(mail));
  expect(mail.email.text).toContain(`Turn them off: ${url}`);
  expect(url.origin).toBe(world.baseUrl());
  const agent = world.http(null);
  const kinds = async () =>
    (
      await world.sql<{ kinds: string[] }>('SELECT mail_kinds AS kinds FROM app_user WHERE email = $1', [of.email])
    )[0]?.kinds.toSorted();
  const all = ['completed_batches', 'failed_deliveries', 'quota', 'watch_changes'];

  const page = await agent.get(url.pathname);
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('Turn off notifications about the quota?')]);
  expect(page.headers['content-security-policy']).toContain("default-src 'none'");
  const forged = url.pathname.replace('.quota.', '.failed_deliveries.');
  const refused = await agent.post(forged);
  expect([refused.status, refused.text]).toEqual([404, expect.stringContaining('This link is not valid')]);
  expect((await agent.get(`${url.pathname}x`)).status).toBe(404);
  expect((await agent.method('put', url.pathname)).status).toBe(405);
  expect(await kinds()).toEqual(all);

  // As mailboxes send it, see RFC 8058.
  const off = await agent.post(url.pathname).type('form').send('List-Unsubscribe=One-Click');
  expect([off.status, off.text]).toEqual([200, expect.stringContaining('Notifications about the quota are off')]);
  expect(await kinds()).toEqual(all.filter((kind) => kind !== 'quota'));
  expect((await agent.post(url.pathname)).status).toBe(200);
  await world.sql('DELETE FROM app_user WHERE email = $1', [of.email]);
  expect((await agent.post(url.pathname)).status).toBe(404);
});

test('a mail that was turned off while it waited is not sent', async () => {
  const of = await owner({ quota: '1' });
  const other = await owner({ quota: '1' });
  server.answer(450);
  await check(of);
  await until('a refused attempt', async () => (await mailRows(of))[0]?.last_error === 'EENVELOPE 450 RCPT TO');
  await world.sql("UPDATE app_user SET mail_kinds = '{}' WHERE email = $1", [of.email]);
  server.answer('accept');
  await check(other);
  await until('the mail of the other one', () => mailsTo(other).length === 1);
  await until('the mail to be discarded', async () => (await mailRows(of)).length === 0);
  expect(mailsTo(of)).toEqual([]);
});

test('logs have neither the password of the mail server nor addresses nor tokens', async () => {
  expect(server.passwords).toContain(PASSWORD);
  const lines = [...world.workers, ...world.apis].flatMap((process) => process.lines()).join('\n');
  expect(lines).toContain('A mail was sent.');
  expect(lines).toContain('A mail was not sent; will retry.');
  const links = server.mails.map((mail) => unsubscribeUrlOf(mail).split('.').at(-1) ?? '');
  for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), 'owner-1@example.com', ...links])
    expect(lines.includes(secret)).toBe(false);
});

test('with a wrong SECRET_KEY a mail waits without an attempt, and is sent by a worker that has the right one', async () => {
  const [right] = world.workers;
  await right?.stop();
  const of = await owner({ quota: '1' });
  const wrong = await world.startWorker({
    BASE_URL: world.baseUrl(),
    SECRET_KEY: 'another key than that of the service',
  });
  await check(of);
  await until('the job to fail', () =>
    wrong
      .lines()
      .some((line) => line.includes('Neither SECRET_KEY nor SECRET_KEY_PREVIOUS opens the key of public links')),
  );
  expect(await mailRows(of)).toMatchObject([{ state: 'pending', attempts: 0, last_error: null }]);
  await wrong.stop();
  await world.startWorker({ BASE_URL: world.baseUrl() });
  await until('the mail', async () => (await mailRows(of))[0]?.state === 'sent');
});

test('a worker without a mail server schedules the collecting of mails too: after a loss of Redis it may be the one that restores', async () => {
  const other = await startWorld({ apis: 0 });
  const redis = await openWorldRedis(other);
  try {
    await until('the schedule', async () =>
      (await redis.keys()).includes(`${other.settings.REDIS_PREFIX}:{mail}:repeat:collect`),
    );
  } finally {
    redis.close();
    await other.stop();
  }
});
