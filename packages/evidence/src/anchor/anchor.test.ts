import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { type Anchor, decodeAnchor, encodeAnchor, hashAnchor, NO_ANCHOR_HASH } from './anchor.js';
import { closeAnchor } from './close-anchor.js';
import { verifyAnchorChain } from './verify-anchor-chain.js';

const NOON = Date.parse('2026-11-20T12:00:00.000Z');

const chainOf = (length: number): Anchor[] => {
  const chain: Anchor[] = [];
  for (let i = 0; i < length; i += 1) {
    const root = createHash('sha256').update(`root ${i}`).digest();
    chain.push(closeAnchor({ previous: chain.at(-1) ?? null, size: i + 1, root, closedAt: new Date(NOON + i * 1000) }));
  }
  return chain;
};
const [first, second] = chainOf(2) as [Anchor, Anchor];
const faultsOf = async (anchors: Iterable<Anchor>) =>
  (await verifyAnchorChain(anchors)).faults.map(({ index, fault }) => `${index} ${fault}`);

describe('an anchor', () => {
  it('has its seven keys in JCS order, and the SHA-256 of those bytes is its hash', () => {
    const bytes =
      '{"alg":"rfc9162-sha256","closed_at":"2026-11-20T12:00:00.000Z",' +
      `"prev_anchor_hash":"${NO_ANCHOR_HASH}","root":"${createHash('sha256').update('root 0').digest('hex')}",` +
      '"seq":1,"tree_size":1,"v":1}';
    expect(Buffer.from(encodeAnchor(first)).toString()).toBe(bytes);
    expect(hashAnchor(first)).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect(second).toMatchObject({ seq: 2, prev_anchor_hash: hashAnchor(first) });
  });

  it('is decoded only from its exact bytes', () => {
    const bytes = Buffer.from(encodeAnchor(second));
    expect(decodeAnchor(bytes)).toEqual(second);
    for (const other of [
      ` ${bytes}`,
      `\ufeff${bytes}`,
      `${bytes}\n`,
      JSON.stringify(second),
      JSON.stringify({ ...second, note: 1 }),
      '[]',
    ])
      expect(() => decodeAnchor(Buffer.from(other))).toThrow();
    expect(() => decodeAnchor(Buffer.concat([bytes, Buffer.of(0xff)]))).toThrow();
  });

  it('is hashed only if it is valid', () => {
    const wrong: Record<string, unknown>[] = [
      { v: 2 },
      { seq: 0 },
      { seq: 1.5 },
      { alg: 'sha256' },
      { closed_at: '2026-11-20T12:00:00Z' },
      { closed_at: '2026-13-20T12:00:00.000Z' },
      { tree_size: 0 },
      { root: 'ABCD' },
      { root: first.root.toUpperCase() },
      { prev_anchor_hash: null },
      { anchor_id: 'anc_1' },
    ];
    for (const change of wrong) expect(() => hashAnchor({ ...first, ...change } as Anchor)).toThrow(/not an anchor/);
    const { root: _, ...rootless } = first;
    expect(() => hashAnchor(rootless as Anchor)).toThrow('not an anchor: a missing root');
  });

  it('is not closed without checks, or before its predecessor after the clock was set back', () => {
    const root = Buffer.alloc(32);
    expect(() => closeAnchor({ previous: null, size: 0, root, closedAt: new Date(NOON) })).toThrow();
    const early = closeAnchor({ previous: second, size: 1, root, closedAt: new Date(NOON - 60_000) });
    expect(early.closed_at).toBe(second.closed_at);
  });
});

describe('verifyAnchorChain', () => {
  it('accepts a chain of any length, also in parts', async () => {
    expect(await verifyAnchorChain([])).toEqual({ anchors: 0, end: null, faults: [] });
    const chain = chainOf(9);
    const whole = await verifyAnchorChain(chain);
    expect(whole).toMatchObject({ anchors: 9, end: { seq: 9, hash: hashAnchor(chain.at(-1) as Anchor) }, faults: [] });
    const part = await verifyAnchorChain(chain.slice(0, 4));
    expect(await verifyAnchorChain(chain.slice(4), part.end)).toEqual({ ...whole, anchors: 5 });
  });

  it('finds every change, removal, repetition and move before the last anchor', async () => {
    const text = fc.constantFrom(
      'root',
      'closed_at',
      'tree_size',
      'prev_anchor_hash',
      'removed',
      'repeated',
      'swapped',
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: 12 }), fc.nat(), text, async (length, at, what) => {
        const chain = chainOf(length);
        const index = at % (length - 1);
        const anchor = chain[index] as Anchor;
        if (what === 'removed') chain.splice(index, 1);
        else if (what === 'repeated') chain.splice(index, 0, anchor);
        else if (what === 'swapped') chain.splice(index, 2, chain[index + 1] as Anchor, anchor);
        else if (what === 'tree_size') chain[index] = { ...anchor, tree_size: anchor.tree_size + 1 };
        else if (what === 'closed_at') chain[index] = { ...anchor, closed_at: '2020-01-01T00:00:00.000Z' };
        else chain[index] = { ...anchor, [what]: createHash('sha256').update(anchor.root).digest('hex') };
        expect(await faultsOf(chain)).not.toEqual([]);
      }),
      { numRuns: 200 },
    );
  });

  it('reports the kind and the position of each fault', async () => {
    const [one, two, three] = chainOf(3) as [Anchor, Anchor, Anchor];
    expect(await faultsOf([one, { ...two, root: three.root }, three])).toEqual(['2 wrong_prev_anchor_hash']);
    expect(await faultsOf([one, three])).toEqual(['1 wrong_seq', '1 wrong_prev_anchor_hash']);
    expect(await faultsOf([two, three])).toEqual(['0 wrong_seq', '0 wrong_prev_anchor_hash']);
    const early = { ...three, closed_at: '2026-01-01T00:00:00.000Z' };
    expect(await faultsOf([one, two, early])).toEqual(['2 closed_too_early']);
    expect(await faultsOf([one, { ...two, root: 'x' }, three])).toEqual([
      '1 ill_formed',
      '2 wrong_seq',
      '2 wrong_prev_anchor_hash',
    ]);
  });
});
