import { type AnchorProof, publicId, type Stamp, type StampFacts, type StoredAnchor } from '@vat/domain';
import { z } from 'zod';
import { idOf, instant } from './text.js';

const hash = () => z.string().regex(/^[0-9a-f]{64}$/);

const facts = {
  gen_time: instant().describe('When the authority says it saw the hash.'),
  accuracy_ms: z.int().min(0).nullable().describe('How far gen_time may be off; null when the authority does not say.'),
  serial: z.string().describe("The token's number at its authority, in hex."),
  policy: z.string().describe("The policy's object identifier."),
  authority: z.string().describe("The name in the signer's certificate."),
  development: z
    .boolean()
    .describe("True for a token of the service's own development authority, which proves nothing about time."),
};

/** What a check shows of its time-stamp. */
export const timestampFactsSchema = z
  .strictObject(facts)
  .meta({ id: 'TimestampFacts', description: 'What a verified RFC 3161 time-stamp says.' });

const about = { object: z.literal('timestamp'), check_id: idOf('check'), requested_at: instant() };

/** A time-stamp that is there. */
export const timestampSchema = z
  .strictObject({ ...about, status: z.literal('stamped'), ...facts })
  .meta({ id: 'Timestamp', description: 'A time-stamp over the hashed bytes of a check.' });

/** A time-stamp that was asked for. */
export const pendingTimestampSchema = z
  .strictObject({
    ...about,
    status: z.literal('pending'),
    attempts: z.int().min(0),
    next_attempt_at: instant().nullable(),
    last_error: z.string().nullable().describe('Why the latest try failed, in a word, such as `unreachable`.'),
  })
  .meta({
    id: 'PendingTimestamp',
    description: 'The authority has not answered yet; it is asked again until it does.',
  });

/** What a check shows of its anchor. */
export const anchorPositionSchema = z
  .strictObject({
    anchor_id: idOf('anchor'),
    seq: z.int().min(1),
    leaf_index: z.int().min(0),
    tree_size: z.int().min(1),
  })
  .meta({ id: 'AnchorPosition', description: "The check's place in its anchor." });

/** An anchor: its id beside the seven keys that are hashed, and no more, so that taking the id off leaves what is hashed. */
export const anchorSchema = z
  .strictObject({
    anchor_id: idOf('anchor'),
    v: z.literal(1),
    seq: z.int().min(1).describe('1 for the first anchor, without gaps.'),
    alg: z.literal('rfc9162-sha256'),
    closed_at: instant(),
    tree_size: z.int().min(1),
    root: hash(),
    prev_anchor_hash: hash().describe('SHA-256 of the RFC 8785 form of the anchor before; zeros in the first.'),
  })
  .meta({
    id: 'Anchor',
    description:
      'The closed tree of all checks recorded since the one before. Without `anchor_id`, its RFC 8785 form is what is hashed, chained and time-stamped.',
  });

/** The program that verifies dossiers. Source: contract part 3 §6. */
export const verifierSchema = z
  .strictObject({
    object: z.literal('verifier'),
    file_name: z.literal('verify.py'),
    sha256: hash().describe('SHA-256 of the file, in hex.'),
    size: z.int().min(1).describe('In bytes.'),
    url: z.url().describe('Where the file is.'),
  })
  .meta({ id: 'Verifier', description: 'The program that verifies dossiers, as this release of the service has it.' });

/** An inclusion proof. Source: contract part 2 §7. */
export const anchorProofSchema = z
  .strictObject({
    anchor_id: idOf('anchor'),
    leaf_index: z.int().min(0),
    tree_size: z.int().min(1),
    path: z.array(hash()).describe('Hashes from the leaf upwards. The leaf is the 32 bytes of `response_hash`.'),
  })
  .meta({ id: 'AnchorProof', description: 'An RFC 9162 inclusion proof of a check in its anchor.' });

/** What a check shows of its time-stamp. */
export const presentStampFacts = ({
  genTime,
  accuracyMs,
  serial,
  policy,
  authority,
  development,
}: StampFacts): z.input<typeof timestampFactsSchema> => ({
  gen_time: genTime.toISOString(),
  accuracy_ms: accuracyMs,
  serial,
  policy,
  authority,
  development,
});

/** A check's time-stamp, or how far lookingUp for it has come. */
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
    // The word before the colon; the sentence after it is for the operator and may name hosts.
    last_error: stamp.lastError?.split(':', 1)[0] ?? null,
  };
};

/** An anchor: its id beside the keys that are hashed. Source: contract part 2 §7. */
export const presentAnchor = ({ id, body }: Pick<StoredAnchor, 'id' | 'body'>): z.input<typeof anchorSchema> => {
  const { v, seq, alg, closed_at, tree_size, root, prev_anchor_hash } = JSON.parse(
    Buffer.from(body).toString('utf8'),
  ) as z.input<typeof anchorSchema>;
  return { anchor_id: publicId('anchor', id), v, seq, alg, closed_at, tree_size, root, prev_anchor_hash };
};

/** An inclusion proof. Source: contract part 2 §7. */
export const presentProof = ({
  anchorId,
  leafIndex,
  treeSize,
  path,
}: AnchorProof): z.input<typeof anchorProofSchema> => ({
  anchor_id: publicId('anchor', anchorId),
  leaf_index: leafIndex,
  tree_size: treeSize,
  path: path.map((hash) => Buffer.from(hash).toString('hex')),
});
