import { createHash } from 'node:crypto';
import { createTimestamper, fingerprintOf, type OtherRoot, pinRoot, requestTimestamp } from './create-timestamper.js';
import {
  createDevelopmentAuthority,
  type DevelopmentAuthority,
  type DevelopmentIdentity,
  makeDevelopmentIdentity,
} from './development-authority.js';
import { type LocalAuthority, replying, startAuthority } from './local-authority.fixture.js';
import { TimestampRefused } from './timestamp.js';
import { verifyTimestamp } from './verify-timestamp.js';

const DATA = Buffer.from('a check');
const noDevelopment = () => Promise.reject(new Error('not to be opened'));

let identity: DevelopmentIdentity;
beforeAll(async () => {
  identity = await makeDevelopmentIdentity(new Date());
});

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});
const closeLater = <T extends { close: () => unknown }>(made: T): T => {
  closers.push(made.close);
  return made;
};
/** A clock that tests advance. */
const manualClock = () => {
  let at = Date.now();
  return { now: () => new Date(at), pass: (ms: number) => (at += ms) };
};
const refusal = (promise: Promise<unknown>) =>
  promise.then(
    () => 'none',
    (error: unknown) => (error instanceof TimestampRefused ? error.refusal : error),
  );

describe('createTimestamper', () => {
  it('gets time-stamps from the authority at its address', async () => {
    const now = () => new Date();
    const { reply } = await createDevelopmentAuthority({ identity, now });
    const server = closeLater(await startAuthority(replying(reply)));
    const trustedRoots = [identity.root];
    const { stamp } = closeLater(createTimestamper({ url: server.url, development: noDevelopment, now, trustedRoots }));
    expect(await stamp(DATA)).toMatchObject({ certificates: [identity.certificate, identity.root] });
    expect(server.queries()).toBe(1);
  });

  it.each(['sha256', 'sha384', 'sha512'] as const)('requests a time-stamp of the %s of the data', async (hash) => {
    const now = () => new Date();
    const development = () => createDevelopmentAuthority({ identity, now });
    const { stamp } = closeLater(createTimestamper({ url: null, development, now, hash }));
    const { tokenBytes } = await stamp(DATA);
    const digest = createHash(hash).update(DATA).digest();
    expect(verifyTimestamp({ tokenBytes, digest }).development).toBe(true);
    expect(verifyTimestamp({ tokenBytes, data: DATA }).development).toBe(true);
    expect(() => verifyTimestamp({ tokenBytes, data: Buffer.from('another check') })).toThrow('something else');
    const other = createHash(hash === 'sha512' ? 'sha384' : 'sha512').update(DATA);
    expect(() => verifyTimestamp({ tokenBytes, digest: other.digest() })).toThrow('the imprint is made with');
  });

  it('requires roots for an address without TLS, and pinning for one with TLS', () => {
    const open = (url: string) => createTimestamper({ url, development: noDevelopment, now: () => new Date() });
    expect(() => open('http://tsa.example.com/tsa')).toThrow('TSA_URL is not an https address');
    expect(() => open('https://tsa.example.com/tsa')).toThrow('certificates are required');
  });

  it('verifies the authority with the trusted roots, if there are any', async () => {
    const now = () => new Date();
    const { reply } = await createDevelopmentAuthority({ identity, now });
    const { url } = closeLater(await startAuthority(replying(reply)));
    const stranger = await makeDevelopmentIdentity(now());
    const stampWith = (trustedRoots: string[]) =>
      closeLater(createTimestamper({ url, development: noDevelopment, now, trustedRoots })).stamp(DATA);
    expect(await refusal(stampWith([stranger.root]))).toBe('wrong_chain');
    expect(await refusal(stampWith([stranger.root, identity.root]))).toBe('none');
    expect(await refusal(stampWith([`both:\n${stranger.root}\n${identity.root}`]))).toBe('none');
    for (const root of ['', 'no certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----'])
      expect(() => createTimestamper({ url, development: noDevelopment, now, trustedRoots: [root] })).toThrow();
  });

  it('uses the development authority without an address, and opens it once', async () => {
    const now = () => new Date();
    let opened = 0;
    const development = () => {
      opened += 1;
      return createDevelopmentAuthority({ identity, now });
    };
    const { stamp } = closeLater(createTimestamper({ url: null, development, now, trustedRoots: ['not read'] }));
    expect(opened).toBe(0);
    const stamps = await Promise.all([stamp(DATA), stamp(DATA), stamp(DATA)]);
    expect(stamps.every(({ development: marked }) => marked)).toBe(true);
    expect(opened).toBe(1);
  });

  it('opens the development authority again after a failure', async () => {
    const now = () => new Date();
    let opened = 0;
    const development = () => {
      opened += 1;
      return opened === 1 ? Promise.reject(new Error('no database')) : createDevelopmentAuthority({ identity, now });
    };
    const { stamp } = closeLater(createTimestamper({ url: null, development, now }));
    await expect(stamp(DATA)).rejects.toThrow('no database');
    expect(await stamp(DATA)).toMatchObject({ development: true });
  });

  it('stops calling a failing authority for a while, then tries again', async () => {
    const clock = manualClock();
    const { reply } = await createDevelopmentAuthority({ identity, now: clock.now });
    let broken = true;
    const server: LocalAuthority = closeLater(
      await startAuthority(async (response, query, request) =>
        broken ? response.writeHead(503).end() : replying(reply)(response, query, request),
      ),
    );
    const trustedRoots = [identity.root];
    const options = { url: server.url, development: noDevelopment, now: clock.now, failures: 3, trustedRoots };
    const { stamp } = closeLater(createTimestamper(options));
    for (let i = 0; i < 3; i += 1) expect(await refusal(stamp(DATA))).toBe('http_status');
    for (let i = 0; i < 5; i += 1) expect(await refusal(stamp(DATA))).toBe('circuit_open');
    expect(server.queries()).toBe(3);

    clock.pass(60_000);
    expect(await refusal(stamp(DATA))).toBe('http_status');
    expect(await refusal(stamp(DATA))).toBe('circuit_open');
    clock.pass(60_000);
    broken = false;
    expect(await refusal(stamp(DATA))).toBe('none');
    expect(await refusal(stamp(DATA))).toBe('none');
    expect(server.queries()).toBe(6);
  });

  it('does not count aborted queries as failures of the authority', async () => {
    const now = () => new Date();
    const { reply } = await createDevelopmentAuthority({ identity, now });
    const { url } = closeLater(await startAuthority(replying(reply)));
    const options = { url, development: noDevelopment, now, failures: 1, trustedRoots: [identity.root] };
    const { stamp } = closeLater(createTimestamper(options));
    for (let i = 0; i < 5; i += 1) expect(await refusal(stamp(DATA, AbortSignal.abort()))).toBe('aborted');
    expect(await refusal(stamp(DATA))).toBe('none');
  });
});

describe('pinRoot', () => {
  const now = () => new Date();
  const digest = createHash('sha256').update(DATA).digest();

  /** A pinned authority whose certificates can be replaced. */
  const open = async () => {
    const authorities = new Map<DevelopmentIdentity, DevelopmentAuthority>();
    let current = identity;
    const show = async (other: DevelopmentIdentity) => {
      authorities.set(other, await createDevelopmentAuthority({ identity: other, now }));
      current = other;
    };
    await show(identity);
    const send = async (query: Uint8Array) => (authorities.get(current) as DevelopmentAuthority).reply(query);
    let stored: string | null = null;
    const seen: OtherRoot[] = [];
    const stamp = pinRoot({
      request: requestTimestamp({ send, now }),
      pin: async (certificate) => {
        stored ??= certificate;
        return stored;
      },
      onOtherRoot: (roots) => seen.push(roots),
    });
    return { stamp, show, seen, stored: () => stored, forget: () => (stored = null) };
  };

  it('trusts the root of the first answer, and reports and refuses another one until the pin is deleted', async () => {
    const { stamp, show, seen, stored, forget } = await open();
    await stamp(digest);
    expect(stored()).toBe(identity.root);
    expect(await refusal(stamp(digest))).toBe('none');
    const impostor = await makeDevelopmentIdentity(now());
    await show(impostor);
    expect(await refusal(stamp(digest))).toBe('other_root');
    expect(seen).toEqual([{ pinned: fingerprintOf(identity.root), shown: fingerprintOf(impostor.root) }]);
    await show(identity);
    expect(await refusal(stamp(digest))).toBe('none');
    forget();
    await show(impostor);
    expect(await refusal(stamp(digest))).toBe('none');
    expect(stored()).toBe(impostor.root);
    expect(seen).toHaveLength(1);
  });

  it('pins a root only if its chain is valid', async () => {
    const { stamp, show, stored } = await open();
    const other = await makeDevelopmentIdentity(now());
    await show({ ...identity, root: other.root });
    expect(await refusal(stamp(digest))).toBe('wrong_chain');
    expect(stored()).toBeNull();
  });
});
