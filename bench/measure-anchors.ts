import { createHash } from 'node:crypto';
import { openTreeBuilder } from '@vat/evidence/proof';
import { type ClosingFigures, measureClosing } from './measure-closing.js';
import { measurePass, type PassFigures } from './measure-pass.js';
import { renderTable } from './render-table.js';

export type AnchorsFigures = {
  leaves: number;
  /** The tree alone, its leaves made in memory. */
  tree: PassFigures;
  /** The same on Postgres, with the code of the service. */
  stored: ClosingFigures;
};

/** Leaves that are added between two turns of the event loop, as the service does. */
const PAGE = 1_000;

const buildTree = async (leaves: number) => {
  const tree = openTreeBuilder();
  for (let from = 0; from < leaves; from += PAGE) {
    const page = Array.from({ length: Math.min(PAGE, leaves - from) }, (_, n) =>
      createHash('sha256')
        .update(String(from + n))
        .digest(),
    );
    tree.add(Buffer.concat(page));
    await new Promise((resolve) => setImmediate(resolve));
  }
  return tree.finish();
};

/** Time and memory of the tree of one anchor. Throws if a proof is invalid, because the figures would be meaningless. */
export const measureAnchors = async (leaves: number): Promise<AnchorsFigures> => {
  const { figures: tree } = await measurePass(() => buildTree(leaves));
  return { leaves, tree, stored: await measureClosing(leaves) };
};

/** The part of the report about anchors. */
export const renderAnchors = ({ leaves, tree, stored }: AnchorsFigures): string[] => {
  const row = (name: string, { seconds, rss_mb, longest_turn_ms }: PassFigures) => [
    name,
    seconds.toFixed(1),
    Math.round(rss_mb),
    longest_turn_ms.toFixed(0),
  ];
  return [
    `### The tree of an anchor of ${leaves} checks`,
    renderTable(
      ['', 'seconds', 'additional memory (MB)', 'longest turn of the event loop (ms)'],
      [
        row('the tree alone, leaves in memory', tree),
        row('closing on Postgres', stored.closing),
        row('recomputing from Postgres', stored.recomputing),
      ],
    ),
    `One proof from Postgres p50 ${stored.proof.p50} ms, p95 ${stored.proof.p95} ms, its verification ${stored.verify_us.toFixed(1)} µs.`,
    `On disk ${stored.bytes_per_leaf} bytes per leaf with its indexes, ${stored.bytes_of_nodes_per_leaf} for stored nodes.`,
  ];
};
