import { createHash } from 'node:crypto';
import { createCircuit } from './create-circuit.js';
import { createDevelopmentAuthority } from './create-development-authority.js';
import { createTimestamper, TIMESTAMP_RETRY_DELAYS_MS, TimestampRefused } from './index.js';
import { type LocalAuthority, replying, startAuthority } from './local-authority.fixture.js';
import { type DevelopmentIdentity, makeDevelopmentIdentity } from './make-development-identity.js';

const DIGEST = createHash('sha256').update('a check').digest();
const noDevelopment = () => Promise.reject(new Error('not to be opened'));

let identity: DevelopmentIdentity;
beforeAll(async () => {
  identity = await makeDevelopmentIdentity(new Date());
});

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
const kept = <T extends { close: () => unknown }>(made: T): T => {
  closers.push(made.close);
  return made;
};
/** A clock that goes on when it is told to. */
const handClock = () => {
  let at = Date.now();
  return { now: () => new Date(at), pass: (ms: number) => (at += ms) };
};
const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => 'none',
    (error: unknown) => (error instanceof TimestampRefused ? error.refusal : error),
  );

describe('createTimestamper', () => {
  it('stamps through the authority at its address', async () => {
    const now = () => new Date();
    const { reply } = await createDevelopmentAuthority({ identity, now });
    const server = kept(await startAuthority(replying(reply)));
    const { stamp } = kept(createTimestamper({ url: server.url, development: noDevelopment, now }));
    expect(await stamp(DIGEST)).toMatchObject({ certificates: [identity.certificate, identity.root] });
    expect(server.queries()).toBe(1);
  });

  it('holds that authority against the trusted roots, where some are set', async () => {
    const now = () => new Date();
    const { reply } = await createDevelopmentAuthority({ identity, now });
    const { url } = kept(await startAuthority(replying(reply)));
    const stranger = await makeDevelopmentIdentity(now());
    const stampWith = (trustedRoots: string[]) =>
      kept(createTimestamper({ url, development: noDevelopment, now, trustedRoots })).stamp(DIGEST);
    expect(await refusal(stampWith([stranger.root]))).toBe('wrong_chain');
    expect(await refusal(stampWith([stranger.root, identity.root]))).toBe('none');
    expect(await refusal(stampWith([`both:\n${stranger.root}\n${identity.root}`]))).toBe('none');
    for (const root of ['', 'no certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'])
      expect(() => createTimestamper({ url, development: noDevelopment, now, trustedRoots: [root] })).toThrow();
  });

  it('stamps through its own authority where there is no address, opened once', async () => {
    const now = () => new Date();
    let opened = 0;
    const development = () => {
      opened += 1;
      return createDevelopmentAuthority({ identity, now });
    };
    const { stamp } = kept(createTimestamper({ url: null, development, now, trustedRoots: ['nobody looks at these'] }));
    expect(opened).toBe(0);
    const stamps = await Promise.all([stamp(DIGEST), stamp(DIGEST), stamp(DIGEST)]);
    expect(stamps.every(({ development: marked }) => marked)).toBe(true);
    expect(opened).toBe(1);
  });

  it('opens its own authority again after that failed', async () => {
    const now = () => new Date();
    let opened = 0;
    const development = () => {
      opened += 1;
      return opened === 1 ? Promise.reject(new Error('no database')) : createDevelopmentAuthority({ identity, now });
    };
    const { stamp } = kept(createTimestamper({ url: null, development, now }));
    await expect(stamp(DIGEST)).rejects.toThrow('no database');
    expect(await stamp(DIGEST)).toMatchObject({ development: true });
  });

  it('leaves an authority that fails alone for a while, then tries again', async () => {
    const clock = handClock();
    const { reply } = await createDevelopmentAuthority({ identity, now: clock.now });
    let broken = true;
    const server: LocalAuthority = kept(
      await startAuthority(async (response, query, request) =>
        broken ? response.writeHead(503).end() : replying(reply)(response, query, request),
      ),
    );
    const circuit = { failures: 3, restMs: 60_000 };
    const options = { url: server.url, development: noDevelopment, now: clock.now, circuit };
    const { stamp } = kept(createTimestamper(options));
    for (let i = 0; i < 3; i += 1) expect(await refusal(stamp(DIGEST))).toBe('http_status');
    for (let i = 0; i < 5; i += 1) expect(await refusal(stamp(DIGEST))).toBe('circuit_open');
    expect(server.queries()).toBe(3);

    clock.pass(60_000);
    expect(await refusal(stamp(DIGEST))).toBe('http_status');
    expect(await refusal(stamp(DIGEST))).toBe('circuit_open');
    clock.pass(60_000);
    broken = false;
    expect(await refusal(stamp(DIGEST))).toBe('none');
    expect(await refusal(stamp(DIGEST))).toBe('none');
    expect(server.queries()).toBe(6);
  });

  it('has one schedule of retries, each longer than the one before', () => {
    const sorted = [...TIMESTAMP_RETRY_DELAYS_MS].sort((a, b) => a - b);
    expect(TIMESTAMP_RETRY_DELAYS_MS).toEqual(sorted);
    expect(TIMESTAMP_RETRY_DELAYS_MS.length).toBeGreaterThan(2);
  });
});

describe('createCircuit', () => {
  const failing = (reason: 'unreachable' | 'aborted') => () => Promise.reject(new TimestampRefused(reason, 'no'));

  it('counts failures in a row alone', async () => {
    const { now } = handClock();
    const run = createCircuit({ failures: 2, restMs: 1_000, now });
    for (let i = 0; i < 5; i += 1) {
      expect(await refusal(run(failing('unreachable')))).toBe('unreachable');
      expect(await run(() => Promise.resolve(i))).toBe(i);
    }
  });

  it('does not count what was called off', async () => {
    const { now } = handClock();
    const run = createCircuit({ failures: 1, restMs: 1_000, now });
    for (let i = 0; i < 5; i += 1) expect(await refusal(run(failing('aborted')))).toBe('aborted');
    expect(await refusal(run(failing('unreachable')))).toBe('unreachable');
    expect(await refusal(run(failing('aborted')))).toBe('circuit_open');
  });

  it('lets one call try at a time once it has rested', async () => {
    const clock = handClock();
    const run = createCircuit({ failures: 1, restMs: 1_000, now: clock.now });
    await refusal(run(failing('unreachable')));
    clock.pass(1_000);
    let settle: (word: string) => void = () => undefined;
    const first = run(() => new Promise<string>((resolve) => (settle = resolve)));
    expect(await refusal(run(() => Promise.resolve('second')))).toBe('circuit_open');
    settle('well again');
    expect(await first).toBe('well again');
    expect(await run(() => Promise.resolve('third'))).toBe('third');
  });

  it('lets another call try after a trial was called off', async () => {
    const clock = handClock();
    const run = createCircuit({ failures: 1, restMs: 1_000, now: clock.now });
    await refusal(run(failing('unreachable')));
    clock.pass(1_000);
    expect(await refusal(run(failing('aborted')))).toBe('aborted');
    expect(await run(() => Promise.resolve('well'))).toBe('well');
  });
});
