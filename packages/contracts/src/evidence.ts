import { type AnchorProof, publicId, type Stamp, type StampFacts, type StoredAnchor } from '@vat/domain';
import { z } from 'zod';
import { idOf, instant } from './text.js';

const hash = () => z.string().regex(/^[0-9a-f]{64}$/);

const facts = {
  gen_time: instant().describe('When the authority received the hash, according to the authority.'),
  accuracy_ms: z
    .int()
    .min(0)
    .nullable()
    .describe('The accuracy of gen_time. Null when the authority does not state it.'),
  serial: z.string().describe('The serial number of the token, in hex.'),
  policy: z.string().describe('The object identifier of the policy.'),
  authority: z.string().describe("The name in the signer's certificate."),
  development: z
    .boolean()
    .describe('True for a token of the built-in development authority, which proves nothing about time.'),
};

/** What a check shows of its time-stamp. */
export const timestampFactsSchema = z
  .strictObject(facts)
  .meta({ id: 'TimestampFacts', description: 'The facts of a verified RFC 3161 time-stamp.' });

const about = { object: z.literal('timestamp'), check_id: idOf('check'), requested_at: instant() };

/** A finished time-stamp. */
export const timestampSchema = z
  .strictObject({ ...about, status: z.literal('stamped'), ...facts })
  .meta({ id: 'Timestamp', description: 'A time-stamp over the hashed bytes of a check.' });

/** A requested time-stamp. */
export const pendingTimestampSchema = z
  .strictObject({
    ...about,
    status: z.literal('pending'),
    attempts: z.int().min(0),
    next_attempt_at: instant().nullable(),
    last_error: z.string().nullable().describe('Why the latest attempt failed, such as `unreachable`.'),
  })
  .meta({
    id: 'PendingTimestamp',
    description: 'The authority has not answered yet. The time-stamp is requested again until it does.',
  });

/** What a check shows of its anchor. */
export const anchorPositionSchema = z
  .strictObject({
    anchor_id: idOf('anchor'),
    seq: z.int().min(1),
    leaf_index: z.int().min(0),
    tree_size: z.int().min(1),
  })
  .meta({ id: 'AnchorPosition', description: 'The position of the check in its anchor.' });

/** An anchor: its id and exactly the seven keys that are hashed, so that removing the id leaves what is hashed. */
export const anchorSchema = z
  .strictObject({
    anchor_id: idOf('anchor'),
    v: z.literal(1),
    seq: z.int().min(1).describe('The number of the anchor: 1 for the first one, without gaps.'),
    alg: z.literal('rfc9162-sha256'),
    closed_at: instant(),
    tree_size: z.int().min(1),
    root: hash(),
    prev_anchor_hash: hash().describe(
      'SHA-256 of the RFC 8785 form of the previous anchor. Zeros in the first anchor.',
    ),
  })
  .meta({
    id: 'Anchor',
    description:
      'The Merkle tree of all checks recorded since the previous anchor. Its RFC 8785 form without `anchor_id` is hashed, chained and time-stamped.',
  });

/** The program that verifies dossiers. */
export const verifierSchema = z
  .strictObject({
    object: z.literal('verifier'),
    file_name: z.literal('verify.py'),
    sha256: hash().describe('SHA-256 of the file, in hex.'),
    size: z.int().min(1).describe('The size in bytes.'),
    url: z.url().describe('The URL of the file.'),
  })
  .meta({ id: 'Verifier', description: 'The program of this release that verifies dossiers.' });

/** An inclusion proof. */
export const anchorProofSchema = z
  .strictObject({
    anchor_id: idOf('anchor'),
    leaf_index: z.int().min(0),
    tree_size: z.int().min(1),
    path: z
      .array(hash())
      .describe('The hashes from the leaf to the root. The leaf is the 32 bytes of `response_hash`.'),
  })
  .meta({ id: 'AnchorProof', description: 'An RFC 9162 inclusion proof of a check in its anchor.' });

/** What a check shows of its time-stamp. */
export const presentStampFacts = (stamp: StampFacts): z.input<typeof timestampFactsSchema> => ({
  gen_time: stamp.genTime.toISOString(),
  accuracy_ms: stamp.accuracyMs,
  serial: stamp.serial,
  policy: stamp.policy,
  authority: stamp.authority,
  development: stamp.development,
});

/** The time-stamp of a check, finished or requested. */
export const presentTimestamp = (
  stamp: Stamp,
): z.input<typeof timestampSchema> | z.input<typeof pendingTimestampSchema> => {
  const about = {
    object: 'timestamp' as const,
    check_id: publicId('check', stamp.subjectId),
    requested_at: stamp.requestedAt.toISOString(),
  };
  if (stamp.facts) return { ...about, status: 'stamped', ...presentStampFacts(stamp.facts) };
  return {
    ...about,
    status: 'pending',
    attempts: stamp.attempts,
    next_attempt_at: stamp.nextAttemptAt?.toISOString() ?? null,
    // Only the word before the colon: the sentence after it is for the operator and may name hosts.
    last_error: stamp.lastError?.split(':', 1)[0] ?? null,
  };
};

/** An anchor: its id and the keys that are hashed. */
export const presentAnchor = ({ id, body }: Pick<StoredAnchor, 'id' | 'body'>): z.input<typeof anchorSchema> => {
  const { v, seq, alg, closed_at, tree_size, root, prev_anchor_hash } = JSON.parse(
    Buffer.from(body).toString('utf8'),
  ) as z.input<typeof anchorSchema>;
  return { anchor_id: publicId('anchor', id), v, seq, alg, closed_at, tree_size, root, prev_anchor_hash };
};

/** An inclusion proof. */
export const presentProof = (proof: AnchorProof): z.input<typeof anchorProofSchema> => ({
  anchor_id: publicId('anchor', proof.anchorId),
  leaf_index: proof.leafIndex,
  tree_size: proof.treeSize,
  path: proof.path.map((hash) => Buffer.from(hash).toString('hex')),
});
