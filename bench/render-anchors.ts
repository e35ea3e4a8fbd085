import type { AnchorsFigures } from './measure-anchors.js';
import type { PassFigures } from './measure-pass.js';
import { renderTable } from './render-table.js';

/** The part of the report about anchors. */
export const renderAnchors = ({ leaves, root, tree, path_us, verify_us, stored }: AnchorsFigures): string[] => {
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
        row('root, streamed', root),
        row('tree for proofs', tree),
        row('closing on Postgres', stored.closing),
        row('recomputing from Postgres', stored.recomputing),
      ],
    ),
    `One proof ${path_us.toFixed(1)} µs, its verification ${verify_us.toFixed(1)} µs; one proof from Postgres p50 ${stored.proof.p50} ms, p95 ${stored.proof.p95} ms.`,
    `On disk ${stored.bytes_per_leaf} bytes per leaf with its indexes, ${stored.bytes_of_nodes_per_leaf} for stored nodes.`,
  ];
};
