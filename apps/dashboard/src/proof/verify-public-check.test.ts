import { newUuid, publicId } from '@vat/domain';
import {
  ANCHOR_ALGORITHM,
  bytesToHex,
  canonicalText,
  hashAnchor,
  NO_ANCHOR_HASH,
  sha256,
  treeHashes,
} from '@vat/evidence/portable';
import type { Anchor, PublicVerification } from '../api/shapes.js';
import { verifyPublicCheck } from './verify-public-check.js';

const ID = publicId('check', newUuid());
const newAnchor = () => publicId('anchor', newUuid());
const [FIRST, SECOND, THIRD] = [newAnchor(), newAnchor(), newAnchor()];
const { hashLeaf, hashNode } = treeHashes(sha256);
const hex = (text: string) => bytesToHex(sha256(new TextEncoder().encode(text)));

/** Three anchors; the second one has a check of this text as the first of its two leaves. */
const dataOf = (evidence: string): PublicVerification => {
  const leaf = sha256(new TextEncoder().encode(evidence));
  const other = hashLeaf(sha256(new TextEncoder().encode('the other check')));
  const anchors: Anchor[] = [];
  const roots = { [FIRST]: hex('one'), [SECOND]: bytesToHex(hashNode(hashLeaf(leaf), other)), [THIRD]: hex('three') };
  for (const [at, id] of [FIRST, SECOND, THIRD].entries()) {
    const { anchor_id: _, ...before } = anchors.at(-1) ?? { anchor_id: '' };
    anchors.push({
      anchor_id: id,
      v: 1,
      seq: at + 1,
      alg: ANCHOR_ALGORITHM,
      closed_at: `2026-11-20T1${at}:00:00.000Z`,
      tree_size: 2,
      root: String(roots[id]),
      prev_anchor_hash: 'seq' in before ? hashAnchor(before) : NO_ANCHOR_HASH,
    });
  }
  return {
    object: 'verification',
    check_id: ID,
    evidence,
    response_hash: `sha256:${bytesToHex(leaf)}`,
    timestamp: null,
    anchored_by: null,
    proof: { anchor_id: SECOND, leaf_index: 0, tree_size: 2, path: [bytesToHex(other)] },
    anchor_timestamp: null,
    anchors,
  };
};

const EVIDENCE = canonicalText({ id: ID, name: 'Ένα όνομα', valid: true, vat_number: 'EL094259216' });
const genuine = dataOf(EVIDENCE);
const outcome = (data: PublicVerification) => verifyPublicCheck(data, ID).findings.map(({ holds }) => holds);
const failures = (data: PublicVerification, id: string = ID) =>
  verifyPublicCheck(data, id)
    .findings.filter(({ holds }) => !holds)
    .map(({ text }) => text);

test('the data of a link holds: hash, form, position and chain', () => {
  const { check, findings } = verifyPublicCheck(genuine, ID);
  expect(check).toMatchObject({ id: ID, vat_number: 'EL094259216' });
  expect(findings).toEqual([
    { holds: true, text: expect.stringMatching(/^The SHA-256 of the \d+ bytes of this check, computed in this/) },
    { holds: true, text: expect.stringContaining('canonical form') },
    { holds: true, text: expect.stringMatching(/^The hash is leaf 1 of 2 in anchor 2: a path of 1 hashes leads to/) },
    { holds: true, text: 'Anchors 1 to 3 form a chain: each contains the hash of the one before it.' },
  ]);
});

test('any changed byte of the check is found, by its hash and by its anchor', () => {
  for (let at = 0; at < EVIDENCE.length; at += 1) {
    const evidence = `${EVIDENCE.slice(0, at)}${EVIDENCE[at] === '0' ? '1' : '0'}${EVIDENCE.slice(at + 1)}`;
    const [hash, , position, chain] = outcome({ ...genuine, evidence });
    expect([at, hash, position, chain]).toEqual([at, false, false, true]);
  }
});

test('a changed check with the hash that fits it is not in the anchor', () => {
  const evidence = EVIDENCE.replace('"valid":true', '"valid":false');
  const { response_hash } = dataOf(evidence);
  expect(failures({ ...genuine, evidence, response_hash })).toEqual([
    expect.stringMatching(/^The hash is not leaf 1 of anchor 2/),
  ]);
});

test('a changed anchor breaks the chain, wherever it is', () => {
  for (const at of [0, 1]) {
    const anchors = genuine.anchors.map((anchor, index) =>
      index === at ? { ...anchor, closed_at: '2026-11-20T10:30:00.000Z' } : anchor,
    );
    expect(failures({ ...genuine, anchors })).toEqual([
      expect.stringMatching(new RegExp(`^The chain is broken at anchor ${at + 2}: prev_anchor_hash is`)),
    ]);
  }
  const [one, , three] = genuine.anchors as [Anchor, Anchor, Anchor];
  expect(failures({ ...genuine, anchors: [one, three] })).toEqual([
    `Anchor ${SECOND} is missing.`,
    expect.stringMatching(/^The chain is broken at anchor 3: seq is 3 where 2 follows; prev_anchor_hash is/),
  ]);
  expect(outcome({ ...genuine, anchors: [] })).toEqual([true, true, false, false]);
  const malformed = [one, { ...three, extra: 1 }] as Anchor[];
  expect(failures({ ...genuine, anchors: malformed })).toContain(
    `Anchor ${THIRD} is not an anchor: an unknown key extra.`,
  );
});

test('the check of another link, a second reading and broken text do not hold', () => {
  expect(failures(genuine, 'chk_other')).toEqual([`The bytes are those of another check, ${ID}.`]);
  const twice = EVIDENCE.replace('{', '{"valid":false,');
  expect(failures(dataOf(twice))).toEqual(['The bytes of this check are not in canonical form (RFC 8785).']);
  for (const broken of ['', '{', 'null', '7']) {
    const { check, findings } = verifyPublicCheck(dataOf(broken), ID);
    expect([check, findings[1]?.text]).toEqual([null, 'The bytes of this check cannot be read.']);
  }
});

test('a check in no anchor yet has its hash and form verified', () => {
  expect(outcome({ ...genuine, proof: null, anchors: [] })).toEqual([true, true]);
});
