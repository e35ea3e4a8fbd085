import {
  type AnchorProof,
  type CheckEvidence,
  type PublicCheck,
  publicCheck,
  publicId,
  type Stamp,
  type StampFacts,
  type StoredAnchor,
  type StoredCheck,
} from '@vat/domain';

const presentFacts = ({ genTime, accuracyMs, serial, policy, authority, development }: StampFacts) => ({
  gen_time: genTime.toISOString(),
  accuracy_ms: accuracyMs,
  serial,
  policy,
  authority,
  development,
});

/** A check with what there is of its evidence by now; none of that is part of what is hashed. */
export const presentCheck = (check: StoredCheck, evidence: CheckEvidence | undefined): PublicCheck => ({
  ...publicCheck(check),
  timestamp: evidence?.stamp ? presentFacts(evidence.stamp) : null,
  anchor: evidence?.anchor
    ? {
        anchor_id: publicId('anchor', evidence.anchor.anchorId),
        seq: evidence.anchor.seq,
        leaf_index: evidence.anchor.leafIndex,
        tree_size: evidence.anchor.treeSize,
      }
    : null,
});

/** A check's time-stamp, or how far asking for it has come. */
export const presentTimestamp = (stamp: Stamp) => {
  const about = {
    object: 'timestamp' as const,
    check_id: publicId('check', stamp.subjectId),
    requested_at: stamp.requestedAt.toISOString(),
  };
  if (stamp.facts) return { ...about, status: 'stamped' as const, ...presentFacts(stamp.facts) };
  return {
    ...about,
    status: 'pending' as const,
    attempts: stamp.attempts,
    next_attempt_at: stamp.nextAttemptAt?.toISOString() ?? null,
    // The word before the colon; the sentence after it is for the operator and may name hosts.
    last_error: stamp.lastError?.split(':', 1)[0] ?? null,
  };
};

/** An anchor: its id beside the keys that are hashed. Source: contract part 2 §7. */
export const presentAnchor = ({ id, body }: Pick<StoredAnchor, 'id' | 'body'>): Record<string, unknown> => {
  const { v, seq, alg, closed_at, tree_size, root, prev_anchor_hash } = JSON.parse(
    Buffer.from(body).toString('utf8'),
  ) as Record<string, unknown>;
  return { anchor_id: publicId('anchor', id), v, seq, alg, closed_at, tree_size, root, prev_anchor_hash };
};

/** An inclusion proof. Source: contract part 2 §7. */
export const presentProof = ({ anchorId, leafIndex, treeSize, path }: AnchorProof) => ({
  anchor_id: publicId('anchor', anchorId),
  leaf_index: leafIndex,
  tree_size: treeSize,
  path: path.map((hash) => Buffer.from(hash).toString('hex')),
});
