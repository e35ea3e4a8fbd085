import { MEMBER_STATES } from '@vat/domain';
import { type ClonedDatabase, cloneDatabase, until } from '@vat/testkit';
import { type MemberStateSlots, memberStateSlots, type Slot } from './member-state-slots.js';

let cloned: ClonedDatabase;
const keepers: MemberStateSlots[] = [];
const newKeeper = (): MemberStateSlots => {
  const keeper = memberStateSlots(cloned.url, () => undefined);
  keepers.push(keeper);
  return keeper;
};
const release = (slots: (Slot | null)[]) => {
  for (const slot of slots) slot?.release();
};

beforeAll(async () => {
  cloned = await cloneDatabase();
});
afterEach(async () => {
  await Promise.all(keepers.splice(0).map((keeper) => keeper.close()));
});
afterAll(() => cloned?.drop());

test('a member state has two slots over all processes, every other member state its own two', async () => {
  const keeping = [newKeeper(), newKeeper(), newKeeper()];
  const taken = await Promise.all(
    MEMBER_STATES.flatMap((state) => keeping.map(async (keeper) => [state, await keeper.take(state)] as const)),
  );
  for (const state of MEMBER_STATES) {
    expect(taken.filter(([of, slot]) => of === state && slot !== null)).toHaveLength(2);
  }
});

test('a slot can be taken again in the very moment in which it is given back', async () => {
  const keeper = newKeeper();
  for (let n = 0; n < 50; n += 1) {
    const slots = await Promise.all([keeper.take('DE'), keeper.take('DE')]);
    expect(slots).not.toContain(null);
    release(slots);
  }
  const other = newKeeper();
  const both = await until('the other process to get both', async () => {
    const slots = await Promise.all([other.take('DE'), other.take('DE')]);
    if (slots.every((slot) => slot !== null)) return slots;
    release(slots);
    return null;
  });
  expect(await keeper.take('DE')).toBeNull();
  release(both);
});

test('giving back twice does not take the slot from whoever holds it by then', async () => {
  const keeper = newKeeper();
  const [first, second] = [await keeper.take('FR'), await keeper.take('FR')];
  first?.release();
  const next = await keeper.take('FR');
  first?.release();
  expect(next).not.toBeNull();
  expect(await newKeeper().take('FR')).toBeNull();
  release([second, next]);
});

test('a process that ends gives its slots back and tells those who ask by them', async () => {
  const keeper = newKeeper();
  const slots = [await keeper.take('IT'), await keeper.take('IT')];
  await keeper.close();
  expect(slots.map((slot) => slot?.lost.aborted)).toEqual([true, true]);
  const other = newKeeper();
  expect(await until('a slot', () => other.take('IT'))).not.toBeNull();
});
