import {
  type AnchorProof,
  type PublicId,
  publicId,
  type StampFacts,
  type StoredAnchor,
  type StoredCheck,
} from '@vat/domain';
import type { Attachment } from './page.js';

/** A time-stamp with its token: the authority's complete response (TimeStampResp, DER). */
export type StampWithToken = Pick<StampFacts, 'genTime' | 'authority' | 'development'> & { token: Uint8Array };

/** The anchor that contains a check, with the proof that it does. */
export type AnchorWithProof = Pick<StoredAnchor, 'id' | 'seq' | 'closedAt' | 'treeSize' | 'root' | 'body'> & {
  stamp: StampWithToken | null;
  proof: Pick<AnchorProof, 'leafIndex' | 'path'>;
};

export type ProvenCheck = {
  /** The hashed bytes, so that the page shows what was hashed. */
  check: Pick<StoredCheck, 'bytes' | 'hash'>;
  timestamp: StampWithToken | null;
  anchor: AnchorWithProof | null;
};

const JSON_TYPE = 'application/json';
const TOKEN_TYPE = 'application/timestamp-reply';

const proofJson = ({ id, treeSize, proof }: AnchorWithProof): Uint8Array =>
  Buffer.from(
    JSON.stringify({
      anchor_id: publicId('anchor', id),
      leaf_index: proof.leafIndex,
      tree_size: treeSize,
      path: proof.path.map((node) => Buffer.from(node).toString('hex')),
    }),
  );

/** The files that prove a check without the service: the record, its tokens, its anchor, and the path to the anchor's root. */
export const proofFiles = (
  { check, timestamp, anchor }: ProvenCheck,
  { id, checkedAt }: { id: PublicId<'check'>; checkedAt: Date },
): Attachment[] => {
  const token = (name: string, stamp: StampWithToken | null, description: string): Attachment[] =>
    stamp
      ? [{ name, bytes: stamp.token, type: TOKEN_TYPE, description, modifiedAt: stamp.genTime, relation: 'Supplement' }]
      : [];
  const json = (name: string, bytes: Uint8Array, description: string, modifiedAt: Date): Attachment => ({
    ...{ name, bytes, type: JSON_TYPE, description, modifiedAt },
    relation: name === 'check.json' ? 'Source' : 'Supplement',
  });
  return [
    json('check.json', check.bytes, `The hashed record of ${id}`, checkedAt),
    ...token('check.tsr', timestamp, 'Time-stamp (RFC 3161) of check.json'),
    ...(anchor
      ? [
          json(
            'proof.json',
            proofJson(anchor),
            'Inclusion proof (RFC 9162) of check.json in anchor.json',
            anchor.closedAt,
          ),
          json('anchor.json', anchor.body, 'The hashed form of the anchor', anchor.closedAt),
          ...token('anchor.tsr', anchor.stamp, 'Time-stamp (RFC 3161) of anchor.json'),
        ]
      : []),
  ];
};
