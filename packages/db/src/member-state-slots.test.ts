import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type LookupSlot, MEMBER_STATES } from '@vat/domain';
import { type ClonedDatabase, cloneDatabase, until } from '@vat/testkit';
import { type MemberStateSlots, memberStateSlots } from './member-state-slots.js';

let cloned: ClonedDatabase;
const processes: MemberStateSlots[] = [];
const newProcess = (): MemberStateSlots => {
  const slotsOfProcess = memberStateSlots({ url: cloned.url, lookupMs: 1_000, onError: () => undefined });
  processes.push(slotsOfProcess);
  return slotsOfProcess;
};
const release = (slots: (LookupSlot | null)[]) => {
  for (const slot of slots) slot?.release();
};

beforeAll(async () => {
  cloned = await cloneDatabase();
});
afterEach(async () => {
  await Promise.all(processes.splice(0).map((slotsOfProcess) => slotsOfProcess.close()));
});
afterAll(() => cloned?.drop());

test('each member state has two slots over all processes', async () => {
  const three = [newProcess(), newProcess(), newProcess()];
  const taken = await Promise.all(
    MEMBER_STATES.flatMap((state) =>
      three.map(async (slotsOfProcess) => [state, await slotsOfProcess.take(state)] as const),
    ),
  );
  for (const state of MEMBER_STATES) {
    expect(taken.filter(([of, slot]) => of === state && slot !== null)).toHaveLength(2);
  }
});

test('a slot can be acquired again at once after its release', async () => {
  const slotsOfProcess = newProcess();
  for (let n = 0; n < 50; n += 1) {
    const slots = await Promise.all([slotsOfProcess.take('DE'), slotsOfProcess.take('DE')]);
    expect(slots).not.toContain(null);
    release(slots);
  }
  const other = newProcess();
  const both = await until('the other process to get both', async () => {
    const slots = await Promise.all([other.take('DE'), other.take('DE')]);
    if (slots.every((slot) => slot !== null)) return slots;
    release(slots);
    return null;
  });
  expect(await slotsOfProcess.take('DE')).toBeNull();
  release(both);
});

test('a slot that its process acquires again at once is not free for others meanwhile, and free after its last release', async () => {
  const [own, other] = [newProcess(), newProcess()];
  const second = await own.take('ES');
  for (let n = 0; n < 50; n += 1) {
    const slot = await own.take('ES');
    expect(slot?.isHeld()).toBe(true);
    expect(await other.take('ES')).toBeNull();
    slot?.release();
  }
  const freed = await until('the slot', () => other.take('ES'));
  expect(await own.take('ES')).toBeNull();
  release([second, freed]);
});

test('a second release does not free the slot of the next holder', async () => {
  const slotsOfProcess = newProcess();
  const [first, second] = [await slotsOfProcess.take('FR'), await slotsOfProcess.take('FR')];
  first?.release();
  const next = await slotsOfProcess.take('FR');
  first?.release();
  expect(next).not.toBeNull();
  expect(await newProcess().take('FR')).toBeNull();
  release([second, next]);
});

test('closing releases the slots and aborts their signals', async () => {
  const slotsOfProcess = newProcess();
  const slots = [await slotsOfProcess.take('IT'), await slotsOfProcess.take('IT')];
  await slotsOfProcess.close();
  expect(slots.map((slot) => slot?.lost.aborted)).toEqual([true, true]);
  const other = newProcess();
  expect(await until('a slot', () => other.take('IT'))).not.toBeNull();
});

test('a connection is made again after one that could not be begun', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'vat-slots-'));
  const file = path.join(folder, 'ca.pem');
  const url = new URL(cloned.url);
  url.searchParams.set('sslrootcert', file);
  const slotsOfProcess = memberStateSlots({ url: url.href, lookupMs: 1_000, onError: () => undefined });
  try {
    await expect(slotsOfProcess.take('DE')).rejects.toThrow('ENOENT');
    await writeFile(file, '');
    // It reaches Postgres, which has no TLS here.
    await expect(slotsOfProcess.take('DE')).rejects.toThrow('does not support SSL');
  } finally {
    await slotsOfProcess.close();
    await rm(folder, { recursive: true });
  }
});
