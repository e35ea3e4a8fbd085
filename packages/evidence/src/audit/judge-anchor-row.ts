import { createHash } from 'node:crypto';
import type { AnchorToVerify } from '@vat/domain';
import type { Anchor } from '../anchor/anchor.js';
import { decodeAnchor } from '../anchor/decode-anchor.js';
import { type ChainEnd, verifyAnchorChain } from '../anchor/verify-anchor-chain.js';
import type { ReportKeeper } from './anchors-report.js';
import { judgeToken } from './judge-token.js';

type JudgeAnchorRow = {
  row: AnchorToVerify;
  /** The anchor before it. */
  before: ChainEnd | null;
  trustedRoots: readonly string[];
  differs: ReportKeeper['differs'];
};

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

const repeats = (row: AnchorToVerify, anchor: Anchor): boolean =>
  row.seq === anchor.seq &&
  row.treeSize === anchor.tree_size &&
  row.closedAt.toISOString() === anchor.closed_at &&
  hex(row.root) === anchor.root &&
  hex(row.prevAnchorHash) === anchor.prev_anchor_hash;

/** Judges an anchor by itself and by its predecessor: form, columns, hash, chain, token. Returns the end of the chain. */
export const judgeAnchorRow = async ({
  row,
  before,
  trustedRoots,
  differs,
}: JudgeAnchorRow): Promise<ChainEnd | null> => {
  const told = (kind: string, detail: string) => differs({ kind, anchor_seq: row.seq, detail });
  const digest = createHash('sha256').update(row.body).digest();
  if (!digest.equals(row.hash)) told('anchor_hash', 'the hash is not that of the hashed form');

  if (row.stampDigest === null) told('anchor_stamp', 'no time-stamp was ever asked for');
  else if (!digest.equals(row.stampDigest)) told('anchor_stamp', 'the digest to be stamped is not that of the anchor');
  const fault =
    row.token &&
    judgeToken({ token: row.token, stamped: { data: row.body }, facts: row.stamp, madeAt: row.closedAt, trustedRoots });
  if (fault) told('anchor_stamp', fault);

  let anchor: Anchor;
  try {
    anchor = decodeAnchor(row.body);
  } catch (error) {
    told('anchor_form', error instanceof Error ? error.message : String(error));
    return before;
  }
  if (!repeats(row, anchor)) told('anchor_columns', 'the columns of the anchor differ from its hashed form');
  const { faults, end } = await verifyAnchorChain([anchor], before);
  for (const { detail } of faults) told('anchor_chain', detail);
  return end;
};
