import { type ClonedDatabase, cloneDatabase, openTcpProxy, type TcpProxy, until } from '@vat/testkit';
import { type MemberStateSlots, memberStateSlots } from './member-state-slots.js';

/** After this long without an answer Postgres gives a session up and frees its slots (the keep-alives that it is given). */
const GIVEN_UP_AFTER_MS = 14_000;

let cloned: ClonedDatabase;
let proxy: TcpProxy;
let far: MemberStateSlots;
let near: MemberStateSlots;
beforeAll(async () => {
  cloned = await cloneDatabase();
  proxy = await openTcpProxy({ to: new URL(cloned.url).host });
  far = memberStateSlots(proxy.through(cloned.url), () => undefined);
  near = memberStateSlots(cloned.url, () => undefined);
});
afterEach(() => proxy?.thaw());
afterAll(async () => {
  await Promise.all([far?.close(), near?.close()]);
  await proxy?.close();
  await cloned?.drop();
});

test('a holder that Postgres no longer reaches loses its slots before Postgres gives them to another', async () => {
  const slot = await far.take('DE');
  expect(slot?.lost.aborted).toBe(false);
  proxy.freeze();
  const frozenAt = performance.now();
  await until('the slot to be lost', () => slot?.lost.aborted, GIVEN_UP_AFTER_MS);
  // The rest is for the lookup to be aborted.
  expect(performance.now() - frozenAt).toBeLessThan(GIVEN_UP_AFTER_MS - 4_000);
  proxy.cut({ side: 'server' });
  const both = await until('both slots to be free', async () => {
    const slots = await Promise.all([near.take('DE'), near.take('DE')]);
    if (slots.every((each) => each !== null)) return slots;
    for (const each of slots) each?.release();
    return null;
  });
  for (const each of both) each.release();
  proxy.thaw();
  const again = await until('the far one to hold a slot again', () => far.take('DE').catch(() => null));
  again.release();
}, 30_000);
