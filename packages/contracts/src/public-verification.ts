import {
  type AnchorProof,
  type CheckEvidence,
  publicCheck,
  publicId,
  type StoredAnchor,
  type StoredCheck,
} from '@vat/domain';
import { z } from 'zod';
import {
  anchorProofSchema,
  anchorSchema,
  presentAnchor,
  presentProof,
  presentStampFacts,
  timestampFactsSchema,
} from './evidence.js';
import { idOf, instant } from './text.js';

/** What the public link of a check serves as JSON: everything that verifies the check without an account. */
export const publicVerificationSchema = z.strictObject({
  object: z.literal('verification'),
  check_id: idOf('check'),
  evidence: z.string().describe('The hashed bytes of the check, which are its RFC 8785 form in UTF-8.'),
  response_hash: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  timestamp: timestampFactsSchema.nullable().describe('Null when the check has no time-stamp of its own.'),
  anchored_by: instant()
    .nullable()
    .describe('When the check will be in an anchor. Null for a test check, and afterwards.'),
  proof: anchorProofSchema.nullable().describe('Null while the check is in no anchor.'),
  anchor_timestamp: timestampFactsSchema.nullable().describe('The time-stamp of the anchor of `proof`.'),
  anchors: z
    .array(anchorSchema)
    .describe('The part of the chain with the anchor of `proof`, oldest first, without gaps.'),
});

type PublicVerification = {
  check: StoredCheck;
  stamp: CheckEvidence['stamp'];
  proof: AnchorProof | null;
  /** Newest first, as they are listed. */
  anchors: readonly StoredAnchor[];
  /** How often an anchor is created, in milliseconds. */
  anchorEveryMs: number;
};

/** The public data of a check. */
export const presentPublicVerification = ({
  check,
  stamp,
  proof,
  anchors,
  anchorEveryMs,
}: PublicVerification): z.input<typeof publicVerificationSchema> => {
  const { test, checked_at, response_hash } = publicCheck(check);
  const own = anchors.find(({ id }) => id === proof?.anchorId);
  return {
    object: 'verification',
    check_id: publicId('check', check.id),
    evidence: Buffer.from(check.bytes).toString('utf8'),
    response_hash,
    timestamp: stamp && presentStampFacts(stamp),
    anchored_by: proof || test ? null : new Date(Date.parse(checked_at) + anchorEveryMs).toISOString(),
    proof: proof && presentProof(proof),
    anchor_timestamp: own?.stamp ? presentStampFacts(own.stamp) : null,
    anchors: anchors.map(presentAnchor).toReversed(),
  };
};
