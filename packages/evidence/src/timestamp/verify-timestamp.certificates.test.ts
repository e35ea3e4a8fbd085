import { Null } from 'asn1js';
import { Extension } from 'pkijs';
import { type Forgery, issueHolder } from './forge-reply.fixture.js';
import { authorityExtensions, certificatePem, type Holder, unitExtensions } from './issue-certificate.js';
import { OID } from './object-identifiers.js';
import { DIGEST, type Forger, openForger, type Signers } from './open-forger.fixture.js';
import { verifyTimestamp } from './verify-timestamp.js';

const DAY_MS = 86_400_000;
const ago = (days: number) => new Date(Date.now() - days * DAY_MS);

let forger: Forger;
beforeAll(async () => {
  forger = await openForger();
});
afterAll(() => forger?.close());

const unitWith = async (extensions: Extension[]): Promise<Signers> => ({
  unit: issueHolder({ subject: 'Test unit', issuer: forger.issuing, extensions }),
  chain: [forger.issuing, forger.root],
});

describe("a hostile authority's certificate", () => {
  const purposes: [string, Parameters<typeof unitExtensions>[0]][] = [
    ['for nothing in particular', { purposes: [] }],
    ['for servers', { purposes: ['1.3.6.1.5.5.7.3.1'] }],
    ['for servers too', { purposes: [OID.timeStamping, '1.3.6.1.5.5.7.3.1'] }],
    ['for time-stamping, but not critically', { critical: false }],
    ['for signing certificates too', { usage: 0b1000_0100 }],
    ['for encryption only', { usage: 0b0010_0000 }],
  ];
  it.each(purposes)('is refused when it is %s', async (_, extensions) => {
    expect(await forger.refusalOf({}, await unitWith(unitExtensions(extensions)))).toBe('wrong_purpose');
  });

  it('is refused if it has an unknown critical extension', async () => {
    const unknown = new Extension({ extnID: '1.2.3.4.5', critical: true, extnValue: new Null().toBER() });
    expect(await forger.refusalOf({}, await unitWith([...unitExtensions(), unknown]))).toBe('wrong_chain');
  });

  it('is refused if it, or one above it, was not valid at the stamped time', async () => {
    const { issuing, root } = forger;
    const chain = [issuing, root];
    const of = (issuer: Holder, from: Date, to: Date) =>
      issueHolder({ subject: 'Test unit', issuer, from, to, extensions: unitExtensions() });
    expect(await forger.refusalOf({}, { unit: await of(issuing, ago(9), ago(1)), chain })).toBe('wrong_chain');
    expect(await forger.refusalOf({}, { unit: await of(issuing, ago(-1), ago(-9)), chain })).toBe('wrong_chain');
    const expired = { from: ago(9), to: ago(1), extensions: authorityExtensions() };
    const lapsed = issueHolder({ subject: 'Lapsed issuing', issuer: root, ...expired });
    const below = await of(lapsed, ago(1), ago(-1));
    expect(await forger.refusalOf({}, { unit: below, chain: [lapsed, root] })).toBe('wrong_chain');
  });

  it('verifies after it has expired, if it was valid at the stamped time', async () => {
    const past = { from: ago(9), to: ago(1) };
    const oldRoot = issueHolder({
      subject: 'Old root',
      issuer: null,
      extensions: authorityExtensions(),
      ...past,
    });
    const oldUnit = issueHolder({ subject: 'Old unit', issuer: oldRoot, extensions: unitExtensions(), ...past });
    const at = new Date(Math.floor(ago(5).getTime() / 1000) * 1000);
    const stampedThen: Forgery = {
      info: (info) => {
        info.genTime = at;
      },
    };
    expect(await forger.refusalOf(stampedThen, { unit: oldUnit, chain: [oldRoot] })).toBe('wrong_time');
    expect(verifyTimestamp({ tokenBytes: forger.lastReply(), digest: DIGEST }).genTime).toEqual(at);
  });

  it('is refused when its chain is broken', async () => {
    const { issuing, root, unit } = forger;
    const impostor = issueHolder({ subject: 'Test issuing', issuer: root, extensions: authorityExtensions() });
    // The unit names an issuer that did not sign it, with a different key or key identifier.
    expect(await forger.refusalOf({}, { unit, chain: [impostor, root] })).toBe('wrong_chain');
    const forged = issueHolder({
      ...{ subject: 'Test unit', issuer: { ...issuing, key: impostor.key }, extensions: unitExtensions() },
    });
    expect(await forger.refusalOf({}, { unit: forged, chain: [issuing, root] })).toBe('wrong_chain');
  });

  it('is refused if its issuer is not an authority, or exceeds the path length', async () => {
    const { issuing, root } = forger;
    // One with a key usage that forbids it, and one without the CA flag.
    for (const extensions of [unitExtensions(), []]) {
      const plain = issueHolder({ subject: 'Plain', issuer: root, extensions });
      const byPlain = issueHolder({ subject: 'Test unit', issuer: plain, extensions: unitExtensions() });
      expect(await forger.refusalOf({}, { unit: byPlain, chain: [plain, root] })).toBe('wrong_chain');
    }
    // `issuing` may have no authority below it.
    const deeper = issueHolder({ subject: 'Deeper', issuer: issuing, extensions: authorityExtensions() });
    const tooDeep = issueHolder({ subject: 'Test unit', issuer: deeper, extensions: unitExtensions() });
    expect(await forger.refusalOf({}, { unit: tooDeep, chain: [deeper, issuing, root] })).toBe('wrong_chain');
  });

  it('is refused if it leads to none of the trusted roots', async () => {
    const { issuing, root, unit } = forger;
    const stranger = issueHolder({ subject: 'Test root', issuer: null, extensions: authorityExtensions() });
    const both = { unit, chain: [issuing, root] };
    expect(await forger.refusalOf({}, both, { trustedRoots: [certificatePem(stranger.certificate)] })).toBe(
      'wrong_chain',
    );
    expect(await forger.refusalOf({}, both, { trustedRoots: [certificatePem(root.certificate)] })).toBe('none');
    const two = [certificatePem(stranger.certificate), certificatePem(root.certificate)];
    expect(await forger.refusalOf({}, both, { trustedRoots: two })).toBe('none');
    expect(await forger.refusalOf({}, { unit, chain: [] }, { trustedRoots: [certificatePem(root.certificate)] })).toBe(
      'wrong_chain',
    );
  });

  it('ends the search when authorities issued each other', async () => {
    const { root } = forger;
    const one = issueHolder({ subject: 'One', issuer: null, extensions: authorityExtensions() });
    const two = issueHolder({ subject: 'Two', issuer: one, extensions: authorityExtensions() });
    const oneByTwo = issueHolder({ subject: 'One', issuer: two, extensions: authorityExtensions() });
    const below = issueHolder({ subject: 'Test unit', issuer: oneByTwo, extensions: unitExtensions() });
    const chain = [oneByTwo, two, one];
    expect(await forger.refusalOf({}, { unit: below, chain })).toBe('none');
    expect(
      await forger.refusalOf({}, { unit: below, chain }, { trustedRoots: [certificatePem(root.certificate)] }),
    ).toBe('wrong_chain');
  });
});
