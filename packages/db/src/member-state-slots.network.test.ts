import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { type ClonedDatabase, cloneDatabase, openTcpProxy, PROJECT_ROOT, type TcpProxy, until } from '@vat/testkit';
import { type MemberStateSlots, memberStateSlots } from './member-state-slots.js';

const LOOKUP_MS = 500;
/** A process gives its slots up after this long without an answer of Postgres. */
const GIVEN_UP_AFTER_MS = 7_000;
/** Postgres ends a session that is silent for this long, and a statement that answers a heartbeat may come before. */
const ENDED_AFTER_MS = GIVEN_UP_AFTER_MS + LOOKUP_MS + 1_000;
const HEARTBEAT_MS = 2_000;
const TOLERANCE_MS = 1_000;

/** Takes a slot, and sends whether it is still held for every message. */
const HOLDER = `
  import { memberStateSlots } from ${JSON.stringify(pathToFileURL(`${PROJECT_ROOT}/packages/db/dist/index.js`).href)};
  const slots = memberStateSlots({ url: process.env.URL, lookupMs: ${LOOKUP_MS}, onError: () => undefined });
  const slot = await slots.take('FR');
  process.on('message', () => process.send(slot.isHeld()));
  process.send(true);
`;

let cloned: ClonedDatabase;
let proxy: TcpProxy;
let far: MemberStateSlots;
let near: MemberStateSlots;
let holder: ChildProcess;
beforeAll(async () => {
  cloned = await cloneDatabase();
  proxy = await openTcpProxy({ to: new URL(cloned.url).host });
  const options = { lookupMs: LOOKUP_MS, onError: () => undefined };
  far = memberStateSlots({ ...options, url: proxy.through(cloned.url) });
  near = memberStateSlots({ ...options, url: cloned.url });
  holder = spawn(process.execPath, ['--input-type=module', '-e', HOLDER], {
    env: { URL: cloned.url },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  await once(holder, 'message');
});
afterAll(async () => {
  const exited = once(holder, 'exit');
  holder.kill('SIGKILL');
  await exited;
  await Promise.all([far?.close(), near?.close()]);
  await proxy?.close();
  await cloned?.drop();
});

/** Resolves to the time at which both slots of a member state are free. */
const bothFreeAt = async (memberState: 'DE' | 'FR'): Promise<number> => {
  const both = await until(
    'both slots to be free',
    async () => {
      const slots = await Promise.all([near.take(memberState), near.take(memberState)]);
      if (slots.every((each) => each !== null)) return slots;
      for (const each of slots) each?.release();
      return null;
    },
    ENDED_AFTER_MS + TOLERANCE_MS,
  );
  for (const each of both) each.release();
  return performance.now();
};
const isHeldByHolder = async (): Promise<boolean> => {
  const answered = once(holder, 'message');
  holder.send('is it held?');
  return (await answered)[0] as boolean;
};

test('a holder that Postgres does not reach, and one that stands still, lose their slots after the time of a lookup', async () => {
  const slot = await far.take('DE');
  expect([slot?.isHeld(), await isHeldByHolder()]).toEqual([true, true]);
  proxy.freeze();
  holder.kill('SIGSTOP');
  const frozenAt = performance.now();
  const lost = until('the slot to be lost', () => slot?.lost.aborted, GIVEN_UP_AFTER_MS + TOLERANCE_MS).then(() =>
    performance.now(),
  );
  const [lostAt, ...freeAt] = await Promise.all([lost, bothFreeAt('DE'), bothFreeAt('FR')]);
  for (const at of freeAt) {
    expect(at - lostAt).toBeGreaterThan(LOOKUP_MS);
    expect(at - frozenAt).toBeGreaterThan(ENDED_AFTER_MS - HEARTBEAT_MS - TOLERANCE_MS);
  }
  expect(slot?.isHeld()).toBe(false);

  // It reads this before or after the end of its session, and must not use its slot in either case.
  const heldAfterwards = isHeldByHolder();
  holder.kill('SIGCONT');
  expect(await heldAfterwards).toBe(false);
  proxy.thaw();
  const again = await until('the far one to hold a slot again', () => far.take('DE').catch(() => null));
  again.release();
});
