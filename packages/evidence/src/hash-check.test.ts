import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { type CheckBody, checkBody, publicCheck } from '@vat/domain';
import { EARLIER_CHECKS, provideTool, type Tool } from '@vat/testkit';
import { anyText } from '@vat/testkit/any-text';
import fc from 'fast-check';
import { hashCheck } from './index.js';

const body = (changes: Partial<CheckBody> = {}): CheckBody => ({
  id: 'chk_01m7w2z6v4f2kbk2ykq3n5xv9r' as CheckBody['id'],
  object: 'check',
  request_id: 'req_01m7w2z6v4f2kbk2ykq3n5xv9s' as CheckBody['request_id'],
  vat_number: 'EL094014201',
  country_code: 'EL',
  input: 'el 094014201',
  valid: true,
  verdict: 'valid',
  name: 'ΕΘΝΙΚΗ ΤΡΑΠΕΖΑ ΤΗΣ ΕΛΛΑΔΟΣ Α.Ε.',
  address: 'ΑΙΟΛΟΥ 86\n10559 - ΑΘΗΝΑ',
  requester_vat_number: null,
  consultation_number: null,
  trader_match: null,
  reference: null,
  checks: [
    { source: 'syntax', outcome: 'valid', started_at: '2026-11-20T12:00:00.000Z', duration_ms: 0 },
    { source: 'vies', outcome: 'valid', attempts: 1, started_at: '2026-11-20T12:00:00.001Z', duration_ms: 113 },
  ],
  checked_at: '2026-11-20T12:00:00.120Z',
  salt: '000102030405060708090a0b0c0d0e0f',
  hash_profile: 'jcs-sha256-v1',
  ...changes,
});

/** Text that implementations sort, escape or normalise differently. */
const AWKWARD = [
  'e\u0301', // é from two
  '\u00e9',
  '\u{1f469}\u200d\u{1f4bb}', // an emoji of three
  '\u{1f1ea}\u{1f1fa}',
  '\u2028',
  '\u2029',
  '\ufeff',
  '\u0000',
  '\u001f',
  '\b\f\n\r\t',
  '"\\/',
  '</script>',
  '\ufffe',
  '\u{10ffff}',
  'ﬁ',
  'İı',
  '\u202e',
];
const awkwardText = fc
  .array(fc.oneof(fc.constantFrom(...AWKWARD), anyText({ maxLength: 8 })), { maxLength: 6 })
  .map((parts) => parts.join('').replaceAll('\u007f', ''));
const awkwardBody = fc
  .record({ name: awkwardText, address: awkwardText, input: awkwardText, reference: awkwardText, detail: awkwardText })
  .map(({ detail, ...texts }) =>
    body({
      ...texts,
      trader: { name: texts.name, city: texts.address },
      checks: [
        {
          ...{ source: 'de_evatr', outcome: 'found', started_at: '', duration_ms: 2 ** 53 - 1, attempts: 0, detail },
          facts: {
            ...{ name: texts.name, status: detail, vat_numbers: [texts.reference] },
            matches: { name: 'A', street: 'B', postal_code: 'C', city: 'D' },
          },
          contradicts: true,
        },
      ],
    }),
  );

/** An independent implementation: a program that answers each line of JSON with one line. */
const openReader = ({ file, env }: Tool, args: string[]) => {
  const child = spawn(file, args, { env: { ...env, PYTHONIOENCODING: 'utf-8' }, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    ask: async (value: unknown): Promise<string> => {
      child.stdin.write(`${JSON.stringify(value)}\n`);
      return String((await lines.next()).value);
    },
    close: async () => {
      const closed = once(child, 'close');
      child.stdin.end();
      await closed;
    },
  };
};
type Reader = ReturnType<typeof openReader>;

/** The three lines of Python in docs/evidence.md, run for each input line. */
const PYTHON = `
import hashlib, json, sys
for line in sys.stdin:
    body = json.loads(line)
    kept = {k: v for k, v in body.items() if k not in ("response_hash", "timestamp", "anchor")}
    print("sha256:" + hashlib.sha256(json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()).hexdigest(), flush=True)
`;
const JQ = 'del(.response_hash,.timestamp,.anchor)';

/** The same in three lines of TypeScript. */
const threeLines = (served: Record<string, unknown>): string => {
  const sorted = (_: string, value: unknown) =>
    value && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort())
      : value;
  const { response_hash, timestamp, anchor, ...kept } = served;
  return `sha256:${createHash('sha256').update(JSON.stringify(kept, sorted)).digest('hex')}`;
};

let python: Reader;
let jq: Reader;
let jqTool: Tool;
beforeAll(async () => {
  jqTool = await provideTool('jq');
  python = openReader(await provideTool('python3'), ['-c', PYTHON]);
  jq = openReader(jqTool, ['--unbuffered', '-cS', JQ]);
});
afterAll(async () => {
  await Promise.all([python?.close(), jq?.close()]);
});

describe('the hash of a check', () => {
  it('is that of the stored bytes, and of the API response without its three later fields', () => {
    const { bytes, hash } = hashCheck(body());
    expect(createHash('sha256').update(bytes).digest()).toEqual(hash);
    const served = publicCheck({ bytes, hash });
    expect(threeLines(served)).toBe(served.response_hash);
    expect(threeLines({ ...served, timestamp: { serial: '1' }, anchor: {} })).toBe(served.response_hash);
    expect(threeLines({ ...served, valid: false })).not.toBe(served.response_hash);
  });

  it('covers facts of registers and details of the trader, which the API returns in a readable order', () => {
    const facts = {
      receipt: 'x',
      name: 'ACME',
      matches: { name: 'A', street: 'C', postal_code: 'C', city: 'A' },
    } as const;
    const entry = { source: 'de_evatr', outcome: 'found', started_at: '', duration_ms: 1 } as const;
    const made = hashCheck(
      body({ trader: { city: 'Wien', name: 'ACME' }, checks: [{ contradicts: true, facts, ...entry }] }),
    );
    const served = publicCheck(made);
    expect(threeLines(served)).toBe(served.response_hash);
    expect(Object.keys(served.checks[0] ?? {})).toEqual([...Object.keys(entry), 'facts', 'contradicts']);
    expect(Object.keys(served.checks[0]?.facts ?? {})).toEqual(['name', 'receipt', 'matches']);
    expect(Object.keys(served.trader ?? {})).toEqual(['name', 'city']);
    expect(hashCheck(body({ trader: { city: 'Wien', name: 'ACME' }, checks: [{ facts, ...entry }] })).hash).not.toEqual(
      made.hash,
    );
  });

  it('of a check from before facts and traders existed is presented without them', () => {
    const served = publicCheck(hashCheck(body()));
    expect(served).not.toHaveProperty('trader');
    expect(threeLines(served)).toBe(served.response_hash);
    expect(publicCheck(hashCheck(body({ trader: null }))).trader).toBeNull();
  });

  it.each(EARLIER_CHECKS)('of a check of release $release is verified and presented as it was recorded', (earlier) => {
    const bytes = Buffer.from(earlier.text);
    const served = publicCheck({ bytes, hash: Buffer.from(earlier.sha256, 'hex') });
    expect(threeLines(served)).toBe(`sha256:${earlier.sha256}`);
    expect(served).not.toHaveProperty('match');
    expect(served).not.toHaveProperty('evidence_grade');
    const { response_hash: _hash, timestamp: _timestamp, anchor: _anchor, ...recorded } = served;
    expect(Buffer.from(hashCheck(recorded).bytes).toString()).toBe(earlier.text);
  });

  it('is the output of the documented command', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'vat-hash-'));
    try {
      const check = hashCheck(body({ name: AWKWARD.join(' '), address: 'Łódź, Σόφια, София' }));
      const served = publicCheck(check);
      writeFileSync(path.join(folder, 'body.json'), JSON.stringify(served));
      const command = `'${jqTool.file}' -cjS '${JQ}' body.json | sha256sum`;
      const printed = execFileSync('sh', ['-c', command], { cwd: folder, env: jqTool.env }).toString();
      expect(`sha256:${printed.split(' ')[0]}`).toBe(served.response_hash);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('is the same in jq, Python and TypeScript for any text', async () => {
    await fc.assert(
      fc.asyncProperty(awkwardBody, async (awkward) => {
        const check = hashCheck(awkward);
        const served = publicCheck(check);
        expect(threeLines(served)).toBe(served.response_hash);
        expect(await python.ask(served)).toBe(served.response_hash);
        expect(await jq.ask(served)).toBe(Buffer.from(check.bytes).toString());
      }),
      { numRuns: 500 },
    );
  });

  it('is possible for the match of any trader with any texts of sources', () => {
    const oneOf = (text: fc.Arbitrary<string>) => fc.option(text, { nil: undefined });
    const trader = fc.record({ name: awkwardText, street: awkwardText, postal_code: awkwardText, city: awkwardText });
    const facts = fc.record({ name: awkwardText, address: awkwardText });
    fc.assert(
      fc.property(trader, oneOf(awkwardText), awkwardText, facts, (given, name, address, stated) => {
        const request: Parameters<typeof checkBody>[1] = {
          ...{ id: '0195f1e2-0000-7000-8000-000000000001', test: false, vatNumber: 'EL094014201' },
          ...{ memberState: 'EL', input: 'EL094014201', requester: null, reference: null, trader: given },
          entries: [{ source: 'gleif', outcome: 'found', started_at: '', duration_ms: 1, facts: stated }],
        };
        const answer = {
          ...({ verdict: 'valid', name: name ?? null, address, consultationNumber: null, traderMatch: null } as const),
          answeredAt: '2026-11-20T12:00:00.120Z',
        };
        const made = hashCheck(checkBody(request.id, request, answer, '0'.repeat(32)));
        const served = publicCheck(made);
        expect(served).toMatchObject({ match: made.body.match, evidence_grade: made.body.evidence_grade });
        expect(threeLines(served)).toBe(served.response_hash);
      }),
    );
  });

  it('does not depend on the order of keys', () => {
    fc.assert(
      fc.property(awkwardBody, fc.infiniteStream(fc.nat()), (awkward, order) => {
        const shuffled = Object.entries(awkward)
          .map((entry) => ({ entry, at: order.next().value }))
          .sort((a, b) => a.at - b.at)
          .map(({ entry }) => entry);
        expect(hashCheck(Object.fromEntries(shuffled) as CheckBody).hash).toEqual(hashCheck(awkward).hash);
      }),
    );
  });

  it('changes with any text', () => {
    fc.assert(
      fc.property(awkwardBody, awkwardText, (awkward, other) => {
        fc.pre(awkward.name !== other);
        expect(hashCheck({ ...awkward, name: other }).hash).not.toEqual(hashCheck(awkward).hash);
      }),
    );
  });

  it('rejects values that implementations treat differently, at any depth', () => {
    const half = fc
      .constantFrom('\ud800', '\udfff', '\u007f')
      .chain((wrong) => fc.tuple(awkwardText, awkwardText).map(([before, after]) => `${before} ${wrong} ${after}`));
    fc.assert(
      fc.property(half, fc.constantFrom('name', 'address', 'input', 'reference'), (text, key) => {
        expect(() => hashCheck(body({ [key]: text }))).toThrow(/JCS readers disagree/);
      }),
    );
    const entry = { source: 'vies', outcome: 'valid', started_at: '', duration_ms: 1 } as const;
    expect(() => hashCheck(body({ checks: [{ ...entry, detail: '\u007f' }] }))).toThrow(/check\.checks\.0\.detail/);
    for (const duration_ms of [1.5, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => hashCheck(body({ checks: [{ ...entry, duration_ms }] }))).toThrow(/not an integer/);
    for (const key of ['Name', 'näme', 'name ', ''])
      expect(() => hashCheck({ ...body(), [key]: 1 } as CheckBody)).toThrow(/has the key/);
  });
});
